#pragma once

#include "app/tables/filter_text.h"
#include "app/tables/table_value.h"
#include "profiler/analysis/operators/op_device_times.h"
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
    Stream,
    Gpu,
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
    // of a kernel, from its name
    Class,
    Precision,
    TensorCores,
    // of a kernel; for a group: if all its launches have the same, and the mean occupancy
    Grid,
    Block,
    Registers,
    SharedMemory,
    Occupancy,
    // of an operator or a group of operators: of the work that they launched
    DeviceTime,
    DeviceSelf,
    // of all slices of a group
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
inline constexpr int kFields = static_cast<int>(Field::ShareOfSteps) + 1;

struct FieldInfo {
    const char* keyword; ///< in filters and settings
    QString title, what; ///< heading and tooltip
    TableValue::Unit unit;
};
FieldInfo fieldInfo(Field field);
/// Numbers are right-aligned and sort largest first on the first click.
bool isFigure(Field field);
/// "ns", "bytes/s" or "": the unit of exact values, for column headings in files.
QString exactUnit(Field field);
/// A field of groups only.
bool isOfGroup(Field field);
/// What a filter can ask about a table: the fields of its slices and, for a grouped table, of its groups. `Name` comes
/// first.
std::vector<FilterField> filterFields(bool grouped);

using Steps = std::vector<profiler::analysis::Step>; ///< sorted by start, not overlapping
/// The step that contains a time; null outside of steps.
const profiler::analysis::Step* stepAt(const Steps& steps, profiler::TraceTime time);

/// What the fields of a slice refer to. The trace and the steps must outlive it.
struct FieldContext {
    const profiler::Trace* trace;
    const Steps* steps;
    const profiler::analysis::OpDeviceTimes* deviceTimes = nullptr; ///< null: their fields are empty
};

/// A cell in a table of slices; group fields do not apply.
TableValue sliceValue(const FieldContext& context, const profiler::Slice& slice, Field field);
/// A field that some slices of the table do not have.
bool isOptional(Field field);
/// A field that depends on the launch configuration of a kernel.
bool isOfLaunch(Field field);
/// True where sliceValue() is not empty.
bool applies(const FieldContext& context, const profiler::Slice& slice, Field field);
/// A field whose cells are texts from the trace's string pool.
bool isPooledText(Field field);

/// Numbers that sort slices like sliceValue(), and that are equal only for equal values; for sorting, grouping and
/// filtering millions of rows. For pooled texts, the StringId. Looks at each name and each launch configuration once.
class SliceKey {
public:
    SliceKey(const FieldContext& context, Field field) : m_context(context), m_field(field) {}
    std::int64_t operator()(const profiler::Slice& slice);

private:
    std::int64_t known(std::size_t of, const profiler::Slice& slice);

    FieldContext m_context;
    Field m_field;
    std::vector<std::int64_t> m_keys; ///< by StringId or LaunchId; kUnknown: not looked up yet
};

/// A field of a launch configuration; empty for the occupancy, which also depends on the device.
TableValue launchValue(const profiler::LaunchConfig& launch, Field field);

/// Bytes per second of a copy or memset; none without bytes or duration.
std::optional<double> bytesPerSecond(std::int64_t bytes, profiler::Nanoseconds time);

} // namespace app
