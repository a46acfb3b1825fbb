#include "app/tables/table_field.h"

#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "profiler/analysis/device/occupancy.h"

#include <QCoreApplication>
#include <algorithm>
#include <bit>
#include <limits>

namespace app {

using profiler::Slice;
using profiler::Trace;
using profiler::analysis::Step;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("TableField", source);
}

} // namespace

FieldTitle fieldTitle(Field field)
{
    switch (field) {
    case Field::Name:
        return {text("Name"), {}};
    case Field::Kind:
        return {text("Kind"), text("Category in the trace")};
    case Field::Begin:
        return {text("Start"), text("Since the start of the trace")};
    case Field::Duration:
        return {text("Duration"), {}};
    case Field::Track:
        return {text("Track"), text("Thread or stream")};
    case Field::Step:
        return {text("Step"), text("Step in which it starts")};
    case Field::Bytes:
        return {text("Bytes"), {}};
    case Field::Rate:
        return {text("Rate"), text("Bytes divided by duration")};
    case Field::Direction:
        return {text("Direction"), text("H: host, D: device, P: peer device")};
    case Field::Source:
        return {text("From"), text("Kind of source memory")};
    case Field::Destination:
        return {text("To"), text("Kind of destination memory")};
    case Field::Correlation:
        return {text("Correlation"), text("Links a CUDA call to the GPU work that it launched")};
    case Field::Sequence:
        return {text("Sequence"), text("Autograd sequence number: the same for an operator and its backward")};
    case Field::Shapes:
        return {text("Shapes"), text("Sizes of the inputs as recorded")};
    case Field::Types:
        return {text("Types"), text("Data types of the inputs as recorded")};
    case Field::Grid:
        return {text("Grid"), text("Blocks of the launch, in x, y, z")};
    case Field::Block:
        return {text("Block"), text("Threads of a block, in x, y, z")};
    case Field::Registers:
        return {text("Registers"), text("Registers per thread")};
    case Field::SharedMemory:
        return {text("Shared memory"), text("Static and dynamic shared memory of a block")};
    case Field::Occupancy:
        return {text("Occupancy"), text("Theoretical: the share of a multiprocessor's warps that fit at one time. Of a "
                                        "name: the mean, weighted by duration.")};
    case Field::Count:
        return {text("Count"), {}};
    case Field::Total:
        return {text("Total"), text("Sum of all durations")};
    case Field::Self:
        return {text("Self"), text("Total without the direct children on the same track")};
    case Field::Mean:
        return {text("Mean"), {}};
    case Field::Median:
        return {text("Median"), {}};
    case Field::Shortest:
        return {text("Min"), {}};
    case Field::Longest:
        return {text("Max"), {}};
    case Field::Share:
        return {text("Share"), text("Share of the total of all rows")};
    case Field::ShareOfSteps:
        return {text("Share of steps"), text("Total of the slices that start within steps, as a share of the step "
                                             "time. Tracks run in parallel, so the sum can exceed 100 %.")};
    }
    return {};
}

bool isFigure(Field field)
{
    switch (field) {
    case Field::Name:
    case Field::Kind:
    case Field::Track:
    case Field::Direction:
    case Field::Source:
    case Field::Destination:
    case Field::Shapes:
    case Field::Types:
        return false;
    default:
        return true;
    }
}

QString exactUnit(Field field)
{
    switch (field) {
    case Field::Begin:
    case Field::Duration:
    case Field::Total:
    case Field::Self:
    case Field::Mean:
    case Field::Median:
    case Field::Shortest:
    case Field::Longest:
        return QStringLiteral("ns");
    case Field::Rate:
        return QStringLiteral("bytes/s");
    default:
        return {};
    }
}

bool isOptional(Field field)
{
    switch (field) {
    case Field::Name:
    case Field::Kind:
    case Field::Begin:
    case Field::Duration:
    case Field::Track:
        return false;
    default:
        return true;
    }
}

bool isOfLaunch(Field field)
{
    return field >= Field::Grid && field <= Field::Occupancy;
}

TableValue launchValue(const profiler::LaunchConfig& launch, Field field)
{
    // The largest product is that of a damaged file.
    const auto size = [](const std::array<std::uint32_t, 3>& sizes, std::uint64_t product) {
        constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
        return product == 0
                   ? TableValue()
                   : TableValue::ofSize(formatDimensions(sizes), static_cast<std::int64_t>(std::min(product, kMost)));
    };
    switch (field) {
    case Field::Grid:
        return size(launch.grid, launch.blocks());
    case Field::Block:
        return size(launch.block, launch.threads());
    case Field::Registers:
        return launch.registers ? TableValue::ofCount(*launch.registers) : TableValue();
    case Field::SharedMemory:
        return launch.sharedMemory ? TableValue::ofBytes(*launch.sharedMemory) : TableValue();
    default:
        return {};
    }
}

bool applies(const Trace& trace, const Slice& slice, Field field, const Steps& steps)
{
    if (isOfLaunch(field))
        return slice.args.launch.value != 0 && sliceValue(trace, slice, field, steps).unit != TableValue::Unit::None;
    switch (field) {
    case Field::Step:
        return stepAt(steps, slice.begin) != nullptr;
    case Field::Bytes:
        return slice.args.bytes > 0;
    case Field::Rate:
        return bytesPerSecond(slice.args.bytes, slice.duration).has_value();
    case Field::Direction:
        return slice.args.copy != profiler::CopyKind::Unknown;
    case Field::Source:
        return slice.args.src != profiler::MemoryKind::Unknown;
    case Field::Destination:
        return slice.args.dst != profiler::MemoryKind::Unknown;
    case Field::Correlation:
        return slice.correlation.value != 0;
    case Field::Sequence:
        return slice.sequence >= 0;
    case Field::Shapes:
        return slice.args.shapes.value != 0;
    case Field::Types:
        return slice.args.types.value != 0;
    default:
        return !isOptional(field);
    }
}

bool isPooledText(Field field)
{
    return field == Field::Name || field == Field::Shapes || field == Field::Types;
}

const Step* stepAt(const Steps& steps, profiler::TraceTime time)
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](profiler::TraceTime t, const Step& step) { return t < step.range.begin; });
    if (after == steps.begin() || !(after - 1)->range.contains(time))
        return nullptr;
    return &*(after - 1);
}

std::optional<double> bytesPerSecond(std::int64_t bytes, profiler::Nanoseconds time)
{
    if (bytes <= 0 || time.count() <= 0)
        return std::nullopt;
    return static_cast<double>(bytes) * 1e9 / static_cast<double>(time.count());
}

TableValue sliceValue(const Trace& trace, const Slice& slice, Field field, const Steps& steps)
{
    if (field == Field::Occupancy) {
        const auto occupancy = profiler::analysis::occupancyOf(trace, slice);
        return occupancy ? TableValue::ofShare(occupancy->share()) : TableValue();
    }
    if (isOfLaunch(field))
        return launchValue(trace.launch(slice.args.launch), field);
    if (!applies(trace, slice, field, steps))
        return {};
    switch (field) {
    case Field::Name:
        return TableValue::ofText(sliceTitle(trace, slice));
    case Field::Kind:
        return TableValue::ofText(asQString(activityName(slice.kind)));
    case Field::Begin:
        return TableValue::ofPosition(slice.begin - trace.range().begin);
    case Field::Duration:
        return TableValue::ofTime(slice.duration);
    case Field::Track:
        return TableValue::ofText(asQString(trace.track(slice.id.track).name));
    case Field::Step:
        return TableValue::ofCount(stepAt(steps, slice.begin)->index);
    case Field::Bytes:
        return TableValue::ofBytes(slice.args.bytes);
    case Field::Rate:
        return TableValue::ofRate(*bytesPerSecond(slice.args.bytes, slice.duration));
    case Field::Direction:
        return TableValue::ofText(asQString(copyKindName(slice.args.copy)));
    case Field::Source:
        return TableValue::ofText(asQString(memoryKindName(slice.args.src)));
    case Field::Destination:
        return TableValue::ofText(asQString(memoryKindName(slice.args.dst)));
    case Field::Correlation:
        return TableValue::ofText(QString::number(slice.correlation.value));
    case Field::Sequence:
        return TableValue::ofText(QString::number(slice.sequence));
    case Field::Shapes:
        return TableValue::ofText(asQString(trace.string(slice.args.shapes)));
    case Field::Types:
        return TableValue::ofText(asQString(trace.string(slice.args.types)));
    default:
        return {};
    }
}

std::int64_t sliceKey(const Trace& trace, const Slice& slice, Field field, const Steps& steps)
{
    if (isOfLaunch(field)) {
        const TableValue value = sliceValue(trace, slice, field, steps);
        if (value.unit == TableValue::Unit::None)
            return -1;
        return value.unit == TableValue::Unit::Share ? std::bit_cast<std::int64_t>(value.real) : value.whole;
    }
    switch (field) {
    case Field::Kind:
        return static_cast<std::int64_t>(slice.kind);
    case Field::Duration:
        return slice.duration.count();
    case Field::Track:
        return slice.id.track.value;
    case Field::Step: {
        const Step* step = stepAt(steps, slice.begin);
        return step ? step->index : -1;
    }
    case Field::Bytes:
        return slice.args.bytes;
    case Field::Rate:
        // The bit patterns of non-negative doubles sort like the doubles.
        return std::bit_cast<std::int64_t>(bytesPerSecond(slice.args.bytes, slice.duration).value_or(0));
    case Field::Direction:
        return static_cast<std::int64_t>(slice.args.copy);
    case Field::Source:
        return static_cast<std::int64_t>(slice.args.src);
    case Field::Destination:
        return static_cast<std::int64_t>(slice.args.dst);
    case Field::Correlation:
        return static_cast<std::int64_t>(slice.correlation.value);
    case Field::Sequence:
        return slice.sequence;
    case Field::Name:
        return slice.name.value;
    case Field::Shapes:
        return slice.args.shapes.value;
    case Field::Types:
        return slice.args.types.value;
    default:
        return toNs(slice.begin);
    }
}

} // namespace app
