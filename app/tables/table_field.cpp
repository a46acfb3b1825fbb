#include "app/tables/table_field.h"

#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/device/occupancy.h"

#include <QCoreApplication>
#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

namespace app {

using profiler::Slice;
using profiler::Trace;
using profiler::analysis::Step;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("TableField", source);
}

bool isOfDevice(profiler::TrackKind kind)
{
    return kind == profiler::TrackKind::Stream || kind == profiler::TrackKind::Annotation;
}

/// A field that follows from the name of a kernel.
TableValue nameValue(std::string_view name, Field field)
{
    const auto ofText = [](std::string_view value) {
        return value.empty() ? TableValue() : TableValue::ofText(asQString(value));
    };
    switch (field) {
    case Field::Class:
        return ofText(kernelClassName(profiler::analysis::kernelClass(name)));
    case Field::Precision:
        return ofText(precisionName(profiler::analysis::kernelPrecision(name)));
    default:
        if (const auto use = profiler::analysis::tensorCoreUse(name))
            return TableValue::ofText(*use ? text("yes") : text("no"));
        return {};
    }
}

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNone = -1; ///< key of an empty cell

/// The key of a cell of a number field.
std::int64_t keyOf(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return kNone;
    case TableValue::Unit::Rate:
    case TableValue::Unit::Share:
        // The bit patterns of non-negative doubles sort like the doubles.
        return std::bit_cast<std::int64_t>(value.real);
    default:
        return value.whole;
    }
}

} // namespace

TableValue TableValue::ofName(QString name)
{
    TableValue value = ofText(std::move(name));
    if (QString label = shortKernelName(value.text.toStdString()); label != value.text)
        value.label = std::move(label);
    return value;
}

QString fullText(const TableValue& value)
{
    return value.label.isEmpty() ? shownText(value) : value.text;
}

QString shownText(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return {};
    case TableValue::Unit::Text:
    case TableValue::Unit::Size:
        return value.label.isEmpty() ? value.text : value.label;
    case TableValue::Unit::Count:
        return formatCount(value.whole);
    case TableValue::Unit::Time:
        return formatDuration(profiler::Nanoseconds{value.whole});
    case TableValue::Unit::Bytes:
        return formatBytes(static_cast<double>(value.whole));
    case TableValue::Unit::Rate:
        return formatBytes(value.real) + QStringLiteral("/s");
    case TableValue::Unit::Share:
        return formatShare(value.real);
    case TableValue::Unit::Position:
        return formatPosition(profiler::Nanoseconds{value.whole});
    }
    return {};
}

QString exactText(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return {};
    case TableValue::Unit::Text:
    case TableValue::Unit::Size:
        return value.text;
    case TableValue::Unit::Rate:
        return QString::number(value.real, 'f', 0);
    case TableValue::Unit::Share:
        return QString::number(value.real, 'g', 9);
    default:
        return QString::number(value.whole);
    }
}

bool comesBefore(const TableValue& a, const TableValue& b)
{
    using Unit = TableValue::Unit;
    if (a.unit != b.unit)
        return a.unit == Unit::None;
    switch (a.unit) {
    case Unit::None:
        return false;
    case Unit::Text: {
        const QString &shownA = a.label.isEmpty() ? a.text : a.label, &shownB = b.label.isEmpty() ? b.text : b.label;
        return shownA == shownB ? a.text < b.text : shownA < shownB;
    }
    case Unit::Rate:
    case Unit::Share:
        return a.real < b.real;
    default:
        return a.whole < b.whole;
    }
}

FieldInfo fieldInfo(Field field)
{
    using Unit = TableValue::Unit;
    switch (field) {
    case Field::Name:
        return {"name", text("Name"), {}, Unit::Text};
    case Field::Kind:
        return {"kind", text("Kind"), text("Category in the trace"), Unit::Text};
    case Field::Begin:
        return {"start", text("Start"), text("Since the start of the trace"), Unit::Position};
    case Field::Duration:
        return {"dur", text("Duration"), {}, Unit::Time};
    case Field::Track:
        return {"track", text("Track"), text("Thread or stream"), Unit::Text};
    case Field::Stream:
        return {"stream", text("Stream"), text("Number of the stream"), Unit::Count};
    case Field::Gpu:
        return {"gpu", text("GPU"), text("Number of the device"), Unit::Count};
    case Field::Step:
        return {"step", text("Step"), text("Step in which it starts"), Unit::Count};
    case Field::Bytes:
        return {"bytes", text("Bytes"), {}, Unit::Bytes};
    case Field::Rate:
        return {"rate", text("Rate"), text("Bytes divided by duration"), Unit::Rate};
    case Field::Direction:
        return {"dir", text("Direction"), text("H: host, D: device, P: peer device"), Unit::Text};
    case Field::Source:
        return {"from", text("From"), text("Kind of source memory"), Unit::Text};
    case Field::Destination:
        return {"to", text("To"), text("Kind of destination memory"), Unit::Text};
    case Field::Correlation:
        return {"corr", text("Correlation"), text("Links a CUDA call to the GPU work that it launched"), Unit::Count};
    case Field::Sequence:
        return {"seq", text("Sequence"), text("Autograd sequence number: the same for an operator and its backward"),
                Unit::Count};
    case Field::Shapes:
        return {"shapes", text("Shapes"), text("Sizes of the inputs as recorded"), Unit::Text};
    case Field::Types:
        return {"types", text("Types"), text("Data types of the inputs as recorded"), Unit::Text};
    case Field::Class:
        return {"class", text("Class"), text("What the kernel computes, from its name"), Unit::Text};
    case Field::Precision:
        return {"dtype", text("Dtype"), text("Data type in which the kernel computes, if its name contains it"),
                Unit::Text};
    case Field::TensorCores:
        return {
            "tensor", text("Tensor cores"),
            text("Whether a matrix product, convolution or attention kernel uses tensor cores, if its name shows it"),
            Unit::Text};
    case Field::Grid:
        return {"grid", text("Grid"), text("Blocks of the launch, in x, y, z"), Unit::Size};
    case Field::Block:
        return {"block", text("Block"), text("Threads of a block, in x, y, z"), Unit::Size};
    case Field::Registers:
        return {"regs", text("Registers"), text("Registers per thread"), Unit::Count};
    case Field::SharedMemory:
        return {"shared", text("Shared memory"), text("Static and dynamic shared memory of a block"), Unit::Bytes};
    case Field::Occupancy:
        return {"occ", text("Occupancy"),
                text("Theoretical: the share of a multiprocessor's warps that fit at one time. Of a group: the mean, "
                     "weighted by duration."),
                Unit::Share};
    case Field::DeviceTime:
        return {"device", text("Device time"),
                text("Durations of the kernels, copies and memsets that were launched inside"), Unit::Time};
    case Field::DeviceSelf:
        return {"device-self", text("Device self"), text("Device time without what nested operators launched"),
                Unit::Time};
    case Field::Count:
        return {"count", text("Count"), {}, Unit::Count};
    case Field::Total:
        return {"total", text("Total"), text("Sum of all durations"), Unit::Time};
    case Field::Self:
        return {"self", text("Self"), text("Total without the direct children on the same track"), Unit::Time};
    case Field::Mean:
        return {"mean", text("Mean"), {}, Unit::Time};
    case Field::Median:
        return {"median", text("Median"), {}, Unit::Time};
    case Field::Shortest:
        return {"min", text("Min"), {}, Unit::Time};
    case Field::Longest:
        return {"max", text("Max"), {}, Unit::Time};
    case Field::Share:
        return {"share", text("Share"), text("Share of the total of all rows"), Unit::Share};
    case Field::ShareOfSteps:
        return {"step-share", text("Share of steps"),
                text("Total of the slices that start within steps, as a share of the step time. Tracks run in "
                     "parallel, so the sum can exceed 100 %."),
                Unit::Share};
    }
    return {};
}

bool isFigure(Field field)
{
    return fieldInfo(field).unit != TableValue::Unit::Text;
}

QString exactUnit(Field field)
{
    switch (fieldInfo(field).unit) {
    case TableValue::Unit::Time:
    case TableValue::Unit::Position:
        return QStringLiteral("ns");
    case TableValue::Unit::Rate:
        return QStringLiteral("bytes/s");
    default:
        return {};
    }
}

bool isOfGroup(Field field)
{
    return field >= Field::Count;
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

bool applies(const FieldContext& context, const Slice& slice, Field field)
{
    if (isOfLaunch(field))
        return slice.args.launch.value != 0 && sliceValue(context, slice, field).unit != TableValue::Unit::None;
    switch (field) {
    case Field::Stream:
    case Field::Gpu:
        return isOfDevice(context.trace->track(slice.id.track).kind);
    case Field::Step:
        return stepAt(*context.steps, slice.begin) != nullptr;
    case Field::Class:
    case Field::Precision:
    case Field::TensorCores:
        return slice.kind == profiler::ActivityKind::Kernel &&
               !nameValue(context.trace->name(slice), field).text.isEmpty();
    case Field::DeviceTime:
    case Field::DeviceSelf:
        return context.deviceTimes && context.deviceTimes->find(slice.id).has_value();
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

TableValue sliceValue(const FieldContext& context, const Slice& slice, Field field)
{
    const Trace& trace = *context.trace;
    if (field == Field::Occupancy) {
        const auto occupancy = profiler::analysis::occupancyOf(trace, slice);
        return occupancy ? TableValue::ofShare(occupancy->share()) : TableValue();
    }
    if (isOfLaunch(field))
        return launchValue(trace.launch(slice.args.launch), field);
    if (!applies(context, slice, field))
        return {};
    switch (field) {
    case Field::Name:
        return TableValue::ofName(sliceTitle(trace, slice));
    case Field::Kind:
        return TableValue::ofText(asQString(activityName(slice.kind)));
    case Field::Begin:
        return TableValue::ofPosition(slice.begin - trace.range().begin);
    case Field::Duration:
        return TableValue::ofTime(slice.duration);
    case Field::Track:
        return TableValue::ofText(asQString(trace.track(slice.id.track).name));
    case Field::Stream:
        return TableValue::ofCount(trace.track(slice.id.track).stream.value);
    case Field::Gpu:
        return TableValue::ofCount(trace.track(slice.id.track).device.value);
    case Field::Step:
        return TableValue::ofCount(stepAt(*context.steps, slice.begin)->index);
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
    case Field::Class:
    case Field::Precision:
    case Field::TensorCores:
        return nameValue(trace.name(slice), field);
    case Field::DeviceTime:
        return TableValue::ofTime(context.deviceTimes->find(slice.id)->total);
    case Field::DeviceSelf:
        return TableValue::ofTime(context.deviceTimes->find(slice.id)->self);
    default:
        return {};
    }
}

/// The key of `slice`, whose name or launch configuration is `of`.
std::int64_t SliceKey::known(std::size_t of, const Slice& slice)
{
    if (m_keys.size() <= of)
        m_keys.resize(std::max(of + 1, m_keys.size() * 2), kUnknown);
    if (m_keys[of] != kUnknown)
        return m_keys[of];
    const std::string_view name = m_context.trace->name(slice);
    switch (m_field) {
    case Field::Class:
        return m_keys[of] = static_cast<std::int64_t>(profiler::analysis::kernelClass(name));
    case Field::Precision:
        return m_keys[of] = static_cast<std::int64_t>(profiler::analysis::kernelPrecision(name));
    case Field::TensorCores: {
        const auto use = profiler::analysis::tensorCoreUse(name);
        return m_keys[of] = use ? static_cast<std::int64_t>(*use) : kNone;
    }
    default:
        return m_keys[of] = keyOf(sliceValue(m_context, slice, m_field));
    }
}

std::int64_t SliceKey::operator()(const Slice& slice)
{
    switch (m_field) {
    case Field::Kind:
        return static_cast<std::int64_t>(slice.kind);
    case Field::Duration:
        return slice.duration.count();
    case Field::Track:
        return slice.id.track.value;
    case Field::Step: {
        const Step* step = stepAt(*m_context.steps, slice.begin);
        return step ? step->index : kNone;
    }
    case Field::Bytes:
        return slice.args.bytes;
    case Field::Rate:
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
    case Field::Class:
    case Field::Precision:
    case Field::TensorCores:
        return slice.kind == profiler::ActivityKind::Kernel ? known(slice.name.value, slice) : kNone;
    case Field::Grid:
    case Field::Block:
    case Field::Registers:
    case Field::SharedMemory:
        return known(slice.args.launch.value, slice);
    case Field::Begin:
        return toNs(slice.begin);
    default:
        return keyOf(sliceValue(m_context, slice, m_field));
    }
}

} // namespace app
