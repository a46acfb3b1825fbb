#pragma once

#include "profiler/analysis/operators/op_costs.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/clock.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

// The fields of the slices in a table, and the values of its cells.
namespace app {

/// The value of a table cell. It is displayed with three significant digits and a unit (positions in time with all
/// digits), and copied and saved exactly.
struct TableValue {
    enum class Unit : std::uint8_t {
        None,     ///< does not apply: an empty cell
        Text,     ///< `text`
        Count,    ///< `whole`
        Size,     ///< `text`, in the order of `whole`: "(141, 1, 1)" by its product
        Time,     ///< `whole`, ns: duration
        Bytes,    ///< `whole`
        Rate,     ///< `real`, bytes per second
        Share,    ///< `real`, share
        Position, ///< `whole`, ns from the start of the trace
    };
    Unit unit = Unit::None;
    QString text;
    std::int64_t whole = 0;
    double real = 0;
    QString label{}; ///< of a long `text`: what is displayed instead; empty: the text

    static TableValue ofText(QString text) { return {Unit::Text, std::move(text), 0, 0}; }
    /// The name of a slice: kernels are displayed as on the timeline, see shortKernelName().
    static TableValue ofName(QString name);
    static TableValue ofCount(std::int64_t count) { return {Unit::Count, {}, count, 0}; }
    static TableValue ofSize(QString text, std::int64_t product) { return {Unit::Size, std::move(text), product, 0}; }
    static TableValue ofTime(profiler::Nanoseconds time) { return {Unit::Time, {}, time.count(), 0}; }
    static TableValue ofPosition(profiler::Nanoseconds sinceStart)
    {
        return {Unit::Position, {}, sinceStart.count(), 0};
    }
    static TableValue ofBytes(std::int64_t bytes) { return {Unit::Bytes, {}, bytes, 0}; }
    static TableValue ofRate(double bytesPerSecond) { return {Unit::Rate, {}, 0, bytesPerSecond}; }
    static TableValue ofShare(double share) { return {Unit::Share, {}, 0, share}; }
    friend bool operator==(const TableValue&, const TableValue&) = default;
};

/// Display text: "41.2 ms", "12.345 678 901 s", "11.8 GB/s", "61.2 %".
QString shownText(const TableValue& value);
/// The same, but with the whole text of a cell that displays a label.
QString fullText(const TableValue& value);
/// Text for other programs: ns, bytes, bytes per second and shares as plain numbers.
QString exactText(const TableValue& value);
/// Order of two cells of a column: texts alphabetically as displayed, numbers by value, empty cells first.
bool comesBefore(const TableValue& a, const TableValue& b);

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
