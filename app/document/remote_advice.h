#pragma once

#include "advisor/rule.h"

#include <QByteArray>
#include <optional>
#include <vector>

namespace app {

/// The rules' verdicts in the output of `advise --json` on another machine, which is not trusted: verdicts of unknown
/// rules and changes of unknown settings are left out, texts are made harmless and bounded. Evidence is placed on the
/// tracks of `trace` with the same names.
/// @return nullopt if the text is not the output of `advise --json`
std::optional<std::vector<advisor::RuleAdvice>> remoteAdvice(const QByteArray& json, const profiler::Trace& trace);

} // namespace app
