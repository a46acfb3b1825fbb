#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <optional>
#include <variant>

namespace app {

/// What somebody typed to go somewhere: a step's number, or a time since the trace's begin.
using Destination = std::variant<std::int64_t, profiler::Nanoseconds>;

/// "step 12", "#12"; "1.25 s", "340 ms", "12us", "1:23.5" (minutes). Nothing for what is none of these.
std::optional<Destination> parseDestination(const QString& text);

/// The step of that number; none where the trace has no such.
std::optional<profiler::Slice> findStep(const profiler::Trace& trace, std::int64_t number);

} // namespace app
