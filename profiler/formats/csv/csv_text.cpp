#include "profiler/formats/csv/csv_text.h"

#include "profiler/formats/container/fields.h"
#include "profiler/formats/output/output_file.h"
#include "profiler/formats/pytorch/json_text.h"

#include <array>
#include <charconv>
#include <optional>

namespace profiler::formats::writers {

namespace {

bool isNumber(std::string_view text)
{
    double value = 0;
    const char* end = text.data() + text.size();
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    return !text.empty() && std::from_chars(begin, end, value).ptr == end;
}

void appendValue(std::string& out, std::string_view value)
{
    const bool formula = !value.empty() && std::string_view("=+-@\t\r").find(value.front()) != std::string_view::npos &&
                         !isNumber(value);
    if (value.find_first_of(",\"\n\r") == value.npos && !formula) {
        out += value;
        return;
    }
    out += '"';
    if (formula)
        out += '\'';
    for (const char c : value)
        out.append(c == '"' ? 2 : 1, c);
    out += '"';
}

using container::columnOf, container::kTrackFields, container::kSliceColumns, container::kArgsFields,
    container::kLaunchFields;

constexpr std::array kColumns = {
    columnOf(kTrackFields, "name"),       columnOf(kTrackFields, "process_name"),  columnOf(kTrackFields, "pid"),
    columnOf(kTrackFields, "tid"),        columnOf(kTrackFields, "device"),        columnOf(kTrackFields, "stream"),
    columnOf(kSliceColumns, "kind"),      columnOf(kSliceColumns, "name"),         columnOf(kSliceColumns, "begin"),
    columnOf(kSliceColumns, "duration"),  columnOf(kSliceColumns, "depth"),        columnOf(kSliceColumns, "link"),
    columnOf(kArgsFields, "bytes"),       columnOf(kArgsFields, "copy"),           columnOf(kArgsFields, "src"),
    columnOf(kArgsFields, "dst"),         columnOf(kArgsFields, "value"),          columnOf(kArgsFields, "shapes"),
    columnOf(kArgsFields, "types"),       columnOf(kLaunchFields, "grid"),         columnOf(kLaunchFields, "block"),
    columnOf(kLaunchFields, "registers"), columnOf(kLaunchFields, "shared_memory")};

std::string numberOrNothing(std::int64_t value)
{
    return value == 0 ? std::string() : std::to_string(value);
}

/// "141 2 1", as columns of other programs do not need quotes for it; empty if it was not recorded.
std::string sizesOrNothing(const std::array<std::uint32_t, 3>& sizes)
{
    return sizes == std::array<std::uint32_t, 3>{}
               ? std::string()
               : std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " + std::to_string(sizes[2]);
}

std::string figureOrNothing(std::optional<std::uint32_t> figure)
{
    return figure ? std::to_string(*figure) : std::string();
}

void appendSlice(std::string& out, const Trace& trace, const Track& track, const Slice& slice)
{
    const SliceArgs& args = slice.args;
    const bool ofDevice = track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
    const bool copies = slice.kind == ActivityKind::GpuMemcpy;
    const LaunchConfig launch = trace.launch(args.launch);
    std::string begin, duration;
    appendMicroseconds(begin, toNs(slice.begin));
    appendMicroseconds(duration, slice.duration.count());
    const std::string pid = numberOrNothing(track.pid), tid = numberOrNothing(track.tid),
                      device = ofDevice ? std::to_string(track.device.value) : std::string(),
                      stream = ofDevice ? std::to_string(track.stream.value) : std::string(),
                      depth = std::to_string(slice.depth),
                      correlation = numberOrNothing(static_cast<std::int64_t>(slice.correlation.value)),
                      bytes = numberOrNothing(args.bytes), value = numberOrNothing(args.value),
                      grid = sizesOrNothing(launch.grid), block = sizesOrNothing(launch.block),
                      registers = figureOrNothing(launch.registers), shared = figureOrNothing(launch.sharedMemory);
    const std::array<std::string_view, kColumns.size()> values = {track.name,
                                                                  track.processName,
                                                                  pid,
                                                                  tid,
                                                                  device,
                                                                  stream,
                                                                  activityName(slice.kind),
                                                                  trace.name(slice),
                                                                  begin,
                                                                  duration,
                                                                  depth,
                                                                  correlation,
                                                                  bytes,
                                                                  copies ? copyKindName(args.copy) : "",
                                                                  copies ? memoryKindName(args.src) : "",
                                                                  copies ? memoryKindName(args.dst) : "",
                                                                  value,
                                                                  trace.string(args.shapes),
                                                                  trace.string(args.types),
                                                                  grid,
                                                                  block,
                                                                  registers,
                                                                  shared};
    appendCsvRow(out, values);
}

} // namespace

void appendCsvRow(std::string& out, std::span<const std::string_view> values)
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0)
            out += ',';
        appendValue(out, values[i]);
    }
    out += '\n';
}

Result<void> writeCsv(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return writeFile(trace, path, options, [&](OutputFile& file) {
        Walk walk(trace, options);
        appendCsvRow(file.buffer(), kColumns);
        bool on = true;
        for (const Track& track : trace.tracks())
            trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
                if (!on)
                    return false;
                appendSlice(file.buffer(), trace, track, slice);
                file.grown();
                on = walk.step() && !file.failed();
                return on;
            });
        return on;
    });
}

} // namespace profiler::formats::writers
