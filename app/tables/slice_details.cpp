#include "app/tables/slice_details.h"

#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/tables/table_field.h"
#include "profiler/analysis/device/occupancy.h"
#include "profiler/analysis/python_frame.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStringList>
#include <algorithm>
#include <limits>
#include <utility>

namespace app {

using profiler::ActivityKind;
using profiler::Slice;
using profiler::Trace;

namespace {

constexpr std::size_t kMostLinks = 40; ///< one CUDA graph launch may start thousands of kernels

QString text(const char* source)
{
    return QCoreApplication::translate("SliceDetails", source);
}

void addCopy(std::vector<SliceDetail>& details, const Slice& slice)
{
    const profiler::SliceArgs& args = slice.args;
    if (args.bytes != 0)
        details.push_back({text("Bytes"), formatBytes(static_cast<double>(args.bytes)), {}});
    const double seconds = static_cast<double>(slice.duration.count()) / 1e9;
    const bool moves = slice.kind == ActivityKind::GpuMemcpy || slice.kind == ActivityKind::GpuMemset ||
                       slice.kind == ActivityKind::LoaderStage;
    if (moves && args.bytes != 0 && seconds > 0)
        details.push_back(
            {text("Rate"), formatBytes(static_cast<double>(args.bytes) / seconds) + QStringLiteral("/s"), {}});
    if (args.copy != profiler::CopyKind::Unknown)
        details.push_back({text("Direction"), asQString(copyKindName(args.copy)), {}});
    if (args.src != profiler::MemoryKind::Unknown || args.dst != profiler::MemoryKind::Unknown)
        details.push_back(
            {text("Memory"),
             asQString(memoryKindName(args.src)) + QStringLiteral(" → ") + asQString(memoryKindName(args.dst)),
             {}});
}

void addIndex(std::vector<SliceDetail>& details, const Slice& slice)
{
    const QString value = formatCount(slice.args.value);
    if (slice.kind == ActivityKind::LoaderStage)
        details.push_back({text("Sample"), value, {}});
    else if (slice.kind == ActivityKind::Phase)
        details.push_back({text("Batch"), value, {}});
    if (slice.sequence >= 0)
        details.push_back({text("Autograd sequence"), QString::number(slice.sequence), {}});
    if (slice.correlation.value != 0)
        details.push_back({text("Correlation"), QString::number(slice.correlation.value), {}});
}

void addFlags(std::vector<SliceDetail>& details, const Slice& slice)
{
    if (slice.is(profiler::slice_flag::kOpen))
        details.push_back({text("End"), text("not recorded (still running or cut off)"), {}});
    if (slice.is(profiler::slice_flag::kBackward))
        details.push_back({text("Pass"), text("backward"), {}});
    if (slice.is(profiler::slice_flag::kAsync))
        details.push_back({text("Call"), text("asynchronous"), {}});
}

/// What limits the occupancy: "registers and shared memory". Empty if all warps fit.
QString limitText(const profiler::analysis::Occupancy& occupancy)
{
    if (occupancy.warps == occupancy.mostWarps)
        return {};
    using namespace profiler::analysis::occupancy_limit;
    QStringList limits;
    if ((occupancy.limits & kRegisters) != 0)
        limits << text("registers");
    if ((occupancy.limits & kSharedMemory) != 0)
        limits << text("shared memory");
    if ((occupancy.limits & kBlocks) != 0)
        limits << text("resident blocks");
    if ((occupancy.limits & kWarps) != 0)
        limits << text("warps per block");
    return limits.join(text(" and "));
}

void addOccupancy(std::vector<SliceDetail>& details, const Trace& trace, const Slice& slice)
{
    const auto occupancy = profiler::analysis::occupancyOf(trace, slice);
    if (!occupancy)
        return;
    const QString limit = limitText(*occupancy);
    const QString share = text("%1 theoretical (%2 of %3 warps)")
                              .arg(formatShare(occupancy->share()))
                              .arg(occupancy->warps)
                              .arg(occupancy->mostWarps);
    details.push_back({text("Occupancy"), limit.isEmpty() ? share : share + text(", limited by ") + limit, {}});
    if (occupancy->waves)
        details.push_back({text("Waves"), formatSignificant(*occupancy->waves), {}});
}

/// Label of the slice at the other end of a flow.
const char* flowLabel(profiler::FlowKind kind, bool outgoing)
{
    switch (kind) {
    case profiler::FlowKind::Launch:
        return outgoing ? QT_TRANSLATE_NOOP("SliceDetails", "Launches")
                        : QT_TRANSLATE_NOOP("SliceDetails", "Launched by");
    case profiler::FlowKind::ForwardBackward:
        return outgoing ? QT_TRANSLATE_NOOP("SliceDetails", "Forward of")
                        : QT_TRANSLATE_NOOP("SliceDetails", "Backward of");
    case profiler::FlowKind::Async:
        break;
    }
    return outgoing ? QT_TRANSLATE_NOOP("SliceDetails", "Leads to") : QT_TRANSLATE_NOOP("SliceDetails", "Comes from");
}

QString linkText(const Trace& trace, const Slice& slice)
{
    return sliceTitle(trace, slice) + QStringLiteral(" · ") + formatDuration(slice.duration);
}

/// Visits the slices around a slice, the innermost first, until `visit` returns false. For device work, these are the
/// call that launched it and the slices around that call; none if the call is unknown, because work on a stream is not
/// nested.
/// @param visit  bool(const Slice&)
template <class Visit>
void forEachAround(const Trace& trace, const Slice& slice, Visit&& visit)
{
    Slice inner = slice;
    if (isDeviceWork(slice.kind))
        for (const profiler::Flow& flow : trace.flowsOf(slice.id))
            if (flow.kind == profiler::FlowKind::Launch && flow.to == slice.id) {
                inner = trace.slice(flow.from);
                break;
            }
    if (isDeviceWork(inner.kind) || (inner.id != slice.id && !visit(inner)))
        return;
    for (int depth = inner.depth - 1; depth >= 0; --depth)
        if (const auto around = trace.at(inner.id.track, depth, inner.begin); around && !visit(*around))
            return;
}

} // namespace

bool holdsAnything(const Trace& trace)
{
    const auto tracks = trace.tracks();
    return trace.sliceCount() > 0 || std::any_of(tracks.begin(), tracks.end(), [&](const profiler::Track& track) {
               return track.kind == profiler::TrackKind::Counter && !trace.counter(track.id).empty();
           });
}

bool holds(const Trace& trace, profiler::SliceId id)
{
    return id.track.value < trace.tracks().size() && id.ordinal < trace.sliceCount(id.track);
}

QString sliceTitle(const Trace& trace, const Slice& slice)
{
    const QString name = asQString(trace.name(slice));
    // "ProfilerStep#5" already contains its number.
    if (slice.kind == ActivityKind::Step && !name.endsWith(u'#' + QString::number(slice.args.value)))
        return name + u' ' + formatCount(slice.args.value);
    return name.isEmpty() ? text("(no name)") : name;
}

QString sliceSentence(const Trace& trace, const Slice& slice)
{
    return text("%1, %2, %3, on %4")
        .arg(sliceTitle(trace, slice), className(classify(slice.kind, trace.name(slice))),
             formatDuration(slice.duration), asQString(trace.track(slice.id.track).name));
}

std::vector<SliceDetail> sliceFacts(const Trace& trace, const Slice& slice)
{
    std::vector<SliceDetail> details;
    details.push_back({text("Kind"), className(classify(slice.kind, trace.name(slice))), {}});
    details.push_back({text("Duration"), formatDuration(slice.duration), {}});
    details.push_back({text("Start"), formatPosition(slice.begin - trace.range().begin), {}});
    details.push_back({text("Track"), asQString(trace.track(slice.id.track).name), {}});
    addIndex(details, slice);
    addCopy(details, slice);
    addFlags(details, slice);
    return details;
}

std::vector<SliceDetail> sliceArguments(const Trace& trace, const Slice& slice)
{
    std::vector<SliceDetail> details;
    const auto addText = [&](const char* label, profiler::StringId id) {
        if (id.value != 0)
            details.push_back({text(label), asQString(trace.string(id)), {}});
    };
    addText("Shapes", slice.args.shapes);
    addText("Types", slice.args.types);
    if (slice.args.device)
        details.push_back({text("Device"), QString::number(slice.args.device->value), {}});
    if (slice.args.stream)
        details.push_back({text("Stream"), QString::number(slice.args.stream->value), {}});
    if (slice.externalId != 0)
        details.push_back({text("External id"), QString::number(slice.externalId), {}});
    const std::string& process = trace.track(slice.id.track).processName;
    if (!process.empty())
        details.push_back({text("Process"), asQString(process), {}});
    return details;
}

std::vector<SliceDetail> sliceLaunch(const Trace& trace, const Slice& slice)
{
    std::vector<SliceDetail> details;
    if (slice.args.launch.value == 0)
        return details;
    const profiler::LaunchConfig launch = trace.launch(slice.args.launch);
    const auto size = [&](const char* label, const std::array<std::uint32_t, 3>& sizes, std::uint64_t product,
                          const QString& one, const QString& many) {
        if (product > 0)
            details.push_back({text(label),
                               formatDimensions(sizes) + QStringLiteral(" · ") +
                                   formatCounted(static_cast<std::int64_t>(product), one, many),
                               {}});
    };
    size("Grid", launch.grid, launch.blocks(), text("block"), text("blocks"));
    size("Block", launch.block, launch.threads(), text("thread"), text("threads"));
    const auto bytes = [](std::uint32_t count) { return formatBytes(count); };
    if (launch.registers)
        details.push_back({text("Registers"), text("%1 per thread").arg(*launch.registers), {}});
    if (launch.sharedMemory) {
        QString shared = text("%1 per block").arg(bytes(*launch.sharedMemory));
        if (const auto dynamic = launch.dynamicSharedMemory; dynamic && *dynamic > 0)
            shared += text(" (%1 dynamic)").arg(bytes(*dynamic));
        details.push_back({text("Shared memory"), shared, {}});
    }
    if (launch.localMemory && *launch.localMemory > 0)
        details.push_back({text("Local memory"), text("%1 per thread").arg(bytes(*launch.localMemory)), {}});
    addOccupancy(details, trace, slice);
    return details;
}

std::optional<SliceDetail> sliceStep(const Slice& slice, const std::vector<profiler::analysis::Step>& steps)
{
    const auto* step = stepAt(steps, slice.begin);
    if (!step || step->slice == slice.id)
        return std::nullopt;
    const QString remark = step->partial ? text(" (cut)") : step->warmup ? text(" (warm-up)") : QString();
    return SliceDetail{text("Step"),
                       formatCount(step->index) + remark + QStringLiteral(" · ") +
                           formatDuration(step->range.duration()),
                       step->slice};
}

profiler::Nanoseconds selfTime(const Trace& trace, const Slice& slice, const std::stop_token& stop)
{
    profiler::Nanoseconds own = slice.duration;
    if (slice.duration.count() == 0)
        return own;
    trace.forEach(slice.id.track, slice.range(), [&](const Slice& inner) {
        if (inner.depth == slice.depth + 1)
            own -= inner.range().clippedTo(slice.range()).duration();
        return !stop.stop_requested();
    });
    return std::max(own, profiler::Nanoseconds{0});
}

std::vector<SliceDetail> sliceLinks(const Trace& trace, const Slice& slice)
{
    std::vector<SliceDetail> links;
    if (slice.depth > 0)
        if (const auto around = trace.at(slice.id.track, slice.depth - 1, slice.begin))
            links.push_back({text("Inside"), linkText(trace, *around), around->id});
    const std::vector<profiler::Flow> flows = trace.flowsOf(slice.id);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const profiler::Flow& flow = flows[i];
        if (links.size() == kMostLinks) {
            const auto more = static_cast<std::int64_t>(flows.size() - i);
            links.push_back({text("More"), text("%1 others").arg(formatCount(more)), {}});
            break;
        }
        const bool outgoing = flow.from == slice.id;
        const char* label = flowLabel(flow.kind, outgoing);
        const Slice other = trace.slice(outgoing ? flow.to : flow.from);
        links.push_back({text(label), linkText(trace, other), other.id});
    }
    return links;
}

std::vector<SliceDetail> sliceStack(const Trace& trace, const Slice& slice)
{
    constexpr std::size_t kMostFrames = 40;
    std::vector<SliceDetail> stack;
    forEachAround(trace, slice, [&](const Slice& frame) {
        stack.push_back({QString::number(stack.size() + 1), linkText(trace, frame), frame.id});
        return stack.size() < kMostFrames;
    });
    if (stack.size() < 2)
        return {};
    return stack;
}

std::optional<advisor::SourcePlace> pythonFunctionNamed(std::string_view name)
{
    const auto function = profiler::analysis::pythonFrame(name);
    if (!function)
        return std::nullopt;
    const int line = static_cast<int>(std::clamp<std::int64_t>(function->line, 1, std::numeric_limits<int>::max()));
    return advisor::SourcePlace{.file = std::string(function->file),
                                .line = line,
                                .endLine = line,
                                .function = std::string(function->function),
                                .what = {}};
}

std::optional<advisor::SourcePlace> pythonFunctionOf(const Trace& trace, const Slice& slice)
{
    std::optional<advisor::SourcePlace> found;
    const auto take = [&](const Slice& frame) {
        auto function = frame.kind == ActivityKind::Other ? pythonFunctionNamed(trace.name(frame)) : std::nullopt;
        const bool isOfUser = function && !profiler::analysis::isOfPytorch(function->file);
        if (function && (!found || isOfUser))
            found = std::move(function);
        return !isOfUser;
    };
    take(slice);
    if (!found)
        forEachAround(trace, slice, take);
    return found;
}

SliceDetail sourceLink(const advisor::SourcePlace& place)
{
    const QString name = QFileInfo(QString::fromStdString(place.file)).fileName();
    return {text("Source line"), QString("%1:%2").arg(name).arg(place.line), {}, place};
}

} // namespace app
