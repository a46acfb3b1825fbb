#pragma once

#include "app/models/table_field.h"
#include "profiler/model/clock.h"

#include <QString>
#include <optional>
#include <variant>

namespace app {

/// What somebody typed to go somewhere: a step's number, or a time since the trace's begin.
using Destination = std::variant<std::int64_t, profiler::Nanoseconds>;

/// "step 12", "#12"; "1.25 s", "340 ms", "12us", "1:23.5" (minutes). Nothing for what is none of these.
std::optional<Destination> parseDestination(const QString& text);

/// The first step of that number; null where there is no such.
const profiler::analysis::Step* findStep(const Steps& steps, std::int64_t number);

} // namespace app
