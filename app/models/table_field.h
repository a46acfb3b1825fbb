#pragma once

#include "app/models/table_value.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

namespace app {

/// What a column shows.
enum class Field : std::uint8_t {
    Name,
    Kind,
    // of one slice
    Begin,
    Duration,
    Track,
    Step,
    Bytes,
    Rate,
    Direction,
    Source,
    Destination,
    Correlation,
    Sequence,
    Shapes,
    Types,
    // of all slices of one name
    Count,
    Total,
    Own,
    Mean,
    Median,
    Shortest,
    Longest,
    Share,
    ShareOfSteps,
};

/// A heading, and what it says when the pointer rests on it.
struct FieldTitle {
    QString title, what;
};
FieldTitle fieldTitle(Field field);
/// Figures are right-aligned, and begin with the largest when their heading is clicked.
bool isFigure(Field field);
/// "ns", "bytes", "bytes/s", "" — the unit of exact figures, for the headings of files.
QString exactUnit(Field field);

using Steps = std::vector<profiler::analysis::Step>; ///< by begin, not overlapping
/// The step in which a moment lies; null outside of steps.
const profiler::analysis::Step* stepAt(const Steps& steps, profiler::TraceTime time);

/// A cell of a table of slices; fields of groups do not apply.
TableValue sliceValue(const profiler::Trace& trace, const profiler::Slice& slice, Field field, const Steps& steps);
/// A field that slices of its table may lack.
bool isOptional(Field field);
/// True where sliceValue() is not empty.
bool applies(const profiler::Slice& slice, Field field, const Steps& steps);
/// A field whose cells are texts of the trace's pool.
bool isPooledText(Field field);
/// A number that orders slices as sliceValue() does, for sorting millions; of a pooled text only its StringId.
std::int64_t sliceKey(const profiler::Slice& slice, Field field, const Steps& steps);

/// Bytes a second of a copy or a memset; none without bytes or time.
std::optional<double> bytesPerSecond(std::int64_t bytes, profiler::Nanoseconds time);

} // namespace app
