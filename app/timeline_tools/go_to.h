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

class Selection;
class TimelineCanvas;

/// Goes to typed text on a timeline: "1.25 s", "340 ms", "step 12". Otherwise returns an error message.
QString goTo(TimelineCanvas& canvas, Selection& selection, const QString& text);
/// Asks for the text. Nothing happens without a trace.
void askDestination(TimelineCanvas* canvas, Selection* selection);

/// The first step with that number; null if there is none.
const profiler::analysis::Step* findStep(const Steps& steps, std::int64_t number);

} // namespace app
