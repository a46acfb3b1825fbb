#pragma once

#include "app/tables/table_value.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

namespace app {

/// The content of a column.
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
    // of a kernel; for a name: if all its launches have the same, and the mean occupancy
    Grid,
    Block,
    Registers,
    SharedMemory,
    Occupancy,
    // of all slices of one name
    Count,
    Total,
    Self,
    Mean,
    Median,
    Shortest,
    Longest,
    Share,
    ShareOfSteps,
};

/// A heading and its tooltip.
struct FieldTitle {
    QString title, what;
};
FieldTitle fieldTitle(Field field);
/// Numbers are right-aligned and sort largest first on the first click.
bool isFigure(Field field);
/// "ns", "bytes", "bytes/s" or "": the unit of exact values, for column headings in files.
QString exactUnit(Field field);

using Steps = std::vector<profiler::analysis::Step>; ///< sorted by start, not overlapping
/// The step that contains a time; null outside of steps.
const profiler::analysis::Step* stepAt(const Steps& steps, profiler::TraceTime time);

/// A cell in a table of slices; group fields do not apply.
TableValue sliceValue(const profiler::Trace& trace, const profiler::Slice& slice, Field field, const Steps& steps);
/// A field that some slices of the table do not have.
bool isOptional(Field field);
/// A field that depends on the launch configuration of a kernel.
bool isOfLaunch(Field field);
/// True where sliceValue() is not empty.
bool applies(const profiler::Trace& trace, const profiler::Slice& slice, Field field, const Steps& steps);
/// A field whose cells are texts from the trace's string pool.
bool isPooledText(Field field);
/// A number that sorts slices like sliceValue(), for sorting millions of rows; for pooled texts, only the StringId.
std::int64_t sliceKey(const profiler::Trace& trace, const profiler::Slice& slice, Field field, const Steps& steps);

/// A field of a launch configuration; empty for the occupancy, which also depends on the device.
TableValue launchValue(const profiler::LaunchConfig& launch, Field field);

/// Bytes per second of a copy or memset; none without bytes or duration.
std::optional<double> bytesPerSecond(std::int64_t bytes, profiler::Nanoseconds time);

} // namespace app
