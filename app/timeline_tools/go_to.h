#pragma once

#include "app/tables/table_field.h"
#include "profiler/model/clock.h"

#include <QString>
#include <optional>
#include <variant>

namespace app {

/// A parsed target: a step number, or a time since the start of the trace.
using Destination = std::variant<std::int64_t, profiler::Nanoseconds>;

/// "step 12", "#12"; "1.25 s", "340 ms", "12us", "1:23.5" (minutes). Empty for other text.
std::optional<Destination> parseDestination(const QString& text);

/// The first step with that number; null if there is none.
const profiler::analysis::Step* findStep(const Steps& steps, std::int64_t number);

} // namespace app
