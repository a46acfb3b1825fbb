#include "profiler/formats/pytorch/assemble.h"

#include "profiler/formats/pytorch/json_text.h"
#include "profiler/model/activity.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <simdjson.h>
#include <span>
#include <utility>

namespace profiler::formats::json {

void Assembly::add(ScanResult&& part)
{
    m_ranges.add(part);
    addRows(part);
    addSamples(part.samples);
    append(m_whole, std::move(part));
}

void Assembly::finish(const TopLevelValues& values)
{
    m_ranges.finish(m_whole);
    addRows(m_whole);
    checkLaunches();
    addFlows();
    nameCounters(nameTracks(m_whole.losses), values);
    addLiveBlocks();
    addMetadata(values);
}

void Assembly::addRows(ScanResult& part)
{
    for (RowSlices& row : part.rows) {
        addCalls(row);
        m_shared.addMany(row.rowId, std::move(row.slices));
    }
    part.rows.clear();
}

void Assembly::addCalls(const RowSlices& row)
{
    Calls* calls = nullptr;
    for (const RawSlice& slice : row.slices) {
        if (slice.link <= 0)
            continue;
        const SortKey call{slice.link, slice.source()};
        if (const bool runtime = slice.kind == ActivityKind::CudaRuntime;
            runtime || slice.kind == ActivityKind::CudaDriver) {
            calls = calls ? calls : &m_calls[row.rowId];
            (*calls)[runtime].push_back(call);
        } else if (isDeviceWork(slice.kind)) {
            m_work.push_back(call);
        }
    }
}

namespace {

void addArrow(SharedBuild& shared, Losses& losses, FlowKind kind, const FlowPoint& from, const FlowPoint& to)
{
    const auto source = shared.rowInfos[from.rowId].track, target = shared.rowInfos[to.rowId].track;
    if (source && target)
        shared.builder.addFlow(kind, {*source, traceTime(from.time)}, {*target, traceTime(to.time), to.ofNext});
    else
        losses.add(Loss::FlowWithoutRow, source ? to.offset : from.offset);
}

/// @param points  points with the same id and category, in time order
void addFlow(SharedBuild& shared, Losses& losses, std::span<const FlowPoint> points)
{
    const FlowUse use = kCategories[points.front().category].flow;
    const FlowKind kind = use == FlowUse::Launch     ? FlowKind::Launch
                          : use == FlowUse::Backward ? FlowKind::ForwardBackward
                                                     : FlowKind::Async;
    // Ids are reused: an end belongs to the last start before it.
    const FlowPoint* from = nullptr;
    bool used = false;
    for (const FlowPoint& point : points) {
        if (from && point.phase != 's') {
            addArrow(shared, losses, kind, *from, point);
            used = true;
        } else if (point.phase != 's' || (from && !used)) {
            losses.add(Loss::FlowWithoutEnd, point.phase == 's' ? from->offset : point.offset);
        }
        if (point.phase != 'f') {
            from = &point;
            used = used && point.phase == 't';
        }
    }
    if (from && !used)
        losses.add(Loss::FlowWithoutEnd, from->offset);
}

} // namespace

void Assembly::addFlows()
{
    const std::vector<FlowPoint>& points = m_whole.flows;
    std::vector<SortKey> order;
    order.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
        order.push_back({static_cast<std::int64_t>(points[i].id), i});
    radixSort(order);
    std::vector<FlowPoint> sameId;
    for (auto next = order.begin(); next != order.end();) {
        sameId.clear();
        for (const std::int64_t id = next->key; next != order.end() && next->key == id; ++next)
            sameId.push_back(points[next->place]);
        std::stable_sort(sameId.begin(), sameId.end(), [](const FlowPoint& a, const FlowPoint& b) {
            return std::tie(a.category, a.time) < std::tie(b.category, b.time);
        });
        for (std::span<const FlowPoint> left = sameId; !left.empty();) {
            const auto other = std::find_if(left.begin(), left.end(), [&](const FlowPoint& point) {
                return point.category != left.front().category;
            });
            const auto count = static_cast<std::size_t>(other - left.begin());
            addFlow(m_shared, m_whole.losses, left.first(count));
            left = left.subspan(count);
        }
    }
    m_whole.flows = {};
}

/// Finds device work whose launch is not in the file, and calls that share an id and cannot be told apart.
void Assembly::checkLaunches()
{
    // If the file has no runtime call at all, calls were not recorded.
    if (m_calls.empty())
        return;
    std::map<std::pair<ProcessKey, std::size_t>, std::vector<SortKey>> processes;
    for (auto& [row, interfaces] : m_calls)
        for (std::size_t i = 0; i < interfaces.size(); ++i) {
            std::vector<SortKey>& calls = processes[{m_shared.rowInfos[row].key.processKey(), i}];
            calls.insert(calls.end(), interfaces[i].begin(), interfaces[i].end());
            interfaces[i] = {};
        }
    radixSort(m_work);
    for (auto& process : processes) {
        std::vector<SortKey>& calls = process.second;
        radixSort(calls);
        for (std::size_t i = 0; i < calls.size(); ++i)
            if ((i > 0 && calls[i - 1].key == calls[i].key) ||
                (i + 1 < calls.size() && calls[i + 1].key == calls[i].key))
                m_whole.losses.add(Loss::SharedCorrelation, calls[i].place);
        auto call = calls.begin();
        std::erase_if(m_work, [&](const SortKey& work) { // keeps what none of these calls launched
            while (call != calls.end() && call->key < work.key)
                ++call;
            return call != calls.end() && call->key == work.key;
        });
    }
    for (const SortKey& work : m_work)
        m_whole.losses.add(Loss::NoLaunch, work.place);
}

void Assembly::countOverlaps()
{
    for (const RowInfo& row : m_shared.rowInfos) {
        const bool nests = row.key.kind == RowKind::Device || (row.key.kind == RowKind::Host && row.key.category == 0);
        if (!row.track || !nests)
            continue;
        const Overlaps overlaps = m_shared.builder.overlaps(*row.track);
        m_whole.losses.add(Loss::Overlapping, overlaps.first, overlaps.count);
    }
}

// Names of tracks and processes, from the metadata events.

namespace {

using ThreadKey =
    std::tuple<ProcessKey, std::int64_t, bool>; ///< number or hash of the text, and which of the two it is

struct Named {
    std::string name, labels;
    std::int32_t sortIndex = 0;
    std::optional<TrackKind> kind; ///< of a thread, if Stepscope wrote the file
};

struct NameTable {
    std::map<ProcessKey, Named> processes;
    std::map<ThreadKey, Named> threads;
    std::map<ProcessKey, std::int64_t> numbers; ///< of processes that the file identifies by text
};

std::string trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(' ');
    const auto last = text.find_last_not_of(' ');
    return first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

std::optional<TrackKind> kindFromName(std::string_view name)
{
    for (const TrackKind kind : {TrackKind::MainThread, TrackKind::LoaderWorker, TrackKind::NvtxDomain})
        if (name == ownRowName(kind))
            return kind;
    return std::nullopt;
}

/// Reads the one relevant argument of the metadata event, and our own argument.
void readInto(Named& named, const MetaEvent& event, std::string_view what, Losses& losses)
{
    simdjson::dom::parser parser;
    simdjson::dom::element args;
    std::string_view text;
    std::int64_t number = 0;
    if (parser.parse(simdjson::padded_string(event.args)).get(args) != simdjson::SUCCESS) {
        losses.add(Loss::BadArgs, event.offset);
        return;
    }
    if (args[kRowKey].get(text) == simdjson::SUCCESS)
        named.kind = kindFromName(text);
    if (what == "name" && args["name"].get(text) == simdjson::SUCCESS)
        named.name = trimmed(text);
    else if (what == "labels" && args["labels"].get(text) == simdjson::SUCCESS)
        named.labels = trimmed(text);
    else if (what == "sort_index" && args["sort_index"].get(number) == simdjson::SUCCESS)
        named.sortIndex = static_cast<std::int32_t>(std::clamp<std::int64_t>(
            number, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

NameTable readNames(const ScanResult& whole, Losses& losses)
{
    NameTable table;
    for (const MetaEvent& event : whole.metadata) {
        constexpr std::string_view kProcess = "process_", kThread = "thread_";
        const ProcessKey process = event.key.processKey();
        if (event.name.starts_with(kProcess))
            readInto(table.processes[process], event, std::string_view(event.name).substr(kProcess.size()), losses);
        else if (event.name.starts_with(kThread))
            readInto(table.threads[{process, event.key.thread, event.key.threadIsText}], event,
                     std::string_view(event.name).substr(kThread.size()), losses);
    }
    return table;
}

std::string deviceRowName(const RowKey& key)
{
    std::string stream = "stream " + std::to_string(key.stream);
    switch (key.kind) {
    case RowKind::Annotation:
        return stream + " annotations";
    case RowKind::Wait:
        return stream + " waits";
    default:
        return stream;
    }
}

Track makeTrack(const RowInfo& row, const NameTable& names)
{
    const RowKey& key = row.key;
    Track track;
    const auto number = names.numbers.find(key.processKey());
    track.pid = number != names.numbers.end() ? number->second : key.processIsText ? 0 : key.process;
    track.processName = row.processText;
    const auto process = names.processes.find(key.processKey());
    const bool onDevice = key.kind != RowKind::Host;
    if (process != names.processes.end()) {
        const Named& named = process->second;
        // The process of a device has the program's name; its label says which device it is.
        track.processName = onDevice && !named.labels.empty() ? named.labels : named.name;
        track.processSortIndex = named.sortIndex;
    }
    // The thread of a device row is either an id that our writer made up or 0.
    const auto thread = names.threads.find(
        {key.processKey(), onDevice && key.thread == 0 ? key.stream : key.thread, !onDevice && key.threadIsText});
    if (thread != names.threads.end())
        track.sortIndex = thread->second.sortIndex;
    if (onDevice) {
        track.kind = key.kind == RowKind::Device ? TrackKind::Stream : TrackKind::Annotation;
        track.device = DeviceId{
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.device.value_or(key.device), 0, 0xffffffff))};
        track.stream = StreamId{static_cast<std::uint32_t>(std::clamp<std::int64_t>(key.stream, 0, 0xffffffff))};
        track.name = deviceRowName(key);
        return track;
    }
    track.tid = key.threadIsText ? 0 : key.thread;
    if (thread != names.threads.end() && thread->second.kind)
        track.kind = *thread->second.kind;
    if (thread != names.threads.end() && !thread->second.name.empty() && key.category == 0)
        track.name = thread->second.name;
    else
        track.name = key.threadIsText ? row.threadText : "thread " + std::to_string(key.thread);
    return track;
}

bool contains(const std::vector<bool>& rows, std::uint32_t rowId)
{
    return rowId < rows.size() && rows[rowId];
}

/// In a file merged from several processes, each process calls its device 0, and the merger created a process for the
/// rows of each device. Devices with the same number in several such processes are therefore different devices. The
/// first keeps its number; the others get the next free numbers.
/// @param calling  processes that launch work; a device row in one of these was written by our own writer
void renumberDevices(SharedBuild& shared, const std::set<ProcessKey>& calling)
{
    std::map<std::int64_t, std::vector<ProcessKey>> rows; // by device number, in file order
    std::int64_t next = 0;
    for (const RowInfo& row : shared.rowInfos)
        if (row.key.kind == RowKind::Device && row.key.device >= 0) {
            auto& processes = rows[row.key.device];
            const ProcessKey process = row.key.processKey();
            if (calling.contains(process))
                return;
            if (std::ranges::find(processes, process) == processes.end())
                processes.push_back(process);
            next = std::max(next, row.key.device + 1);
        }
    std::map<std::pair<std::int64_t, ProcessKey>, std::int64_t> numbers;
    for (const auto& [device, processes] : rows)
        for (std::size_t i = 1; i < processes.size(); ++i)
            numbers[{device, processes[i]}] = next++;
    for (RowInfo& row : shared.rowInfos)
        if (row.key.kind != RowKind::Host) {
            const auto found = numbers.find({row.key.device, row.key.processKey()});
            row.device = found == numbers.end() ? std::nullopt : std::optional(found->second);
        }
}

/// Merged files identify processes by text. Processes of the program get a made-up process number each.
void numberProcesses(SharedBuild& shared, const ScanResult& whole, NameTable& names)
{
    constexpr std::int64_t kFirst = kMadeUpIds + 1'000'000; // after the thread ids that the writer makes up
    std::set<ProcessKey> calling;
    for (std::uint32_t i = 0; i < shared.rowInfos.size(); ++i) {
        const RowKey& key = shared.rowInfos[i].key;
        const ProcessKey process = key.processKey();
        if (contains(whole.callRows, i))
            calling.insert(process);
        if (key.processIsText && (contains(whole.callRows, i) || contains(whole.opRows, i)))
            names.numbers.try_emplace(process, kFirst + static_cast<std::int64_t>(names.numbers.size()));
    }
    if (calling.size() > 1)
        shared.builder.captureStats().notes.push_back(
            message<
                "json.several_processes",
                "{count} processes launch work in this file and may use the same ids for it, so an arrow may lead to "
                "work of another process. Figures are reported separately for each process.">(
                {{"count", calling.size(), countText(calling.size())}}));
    if (calling.size() > 1)
        renumberDevices(shared, calling);
}

} // namespace

Processes Assembly::nameTracks(Losses& losses)
{
    NameTable names = readNames(m_whole, losses);
    numberProcesses(m_shared, m_whole, names);
    const bool anySteps = !m_whole.stepRows.empty();
    Processes processes;
    m_threads.clear();
    for (std::uint32_t i = 0; i < m_shared.rowInfos.size(); ++i) {
        const RowInfo& row = m_shared.rowInfos[i];
        Track track = makeTrack(row, names);
        m_threads.emplace_back(track.pid, track.tid);
        if (row.key.kind == RowKind::Host)
            processes.try_emplace(row.key.processKey(), Process{track.pid, track.processName, track.processSortIndex});
        if (!row.track)
            continue;
        // The thread that contains the steps. Without steps, the thread whose id equals its process id, as on Linux.
        const bool main = anySteps ? contains(m_whole.stepRows, i)
                                   : contains(m_whole.opRows, i) && track.pid == track.tid && track.pid != 0;
        if (row.key.kind == RowKind::Host && main)
            track.kind = TrackKind::MainThread;
        m_shared.builder.updateTrack(*row.track, std::move(track));
    }
    return processes;
}

/// A device that several processes use is left out: its counters are also separate, and the key names only the device.
void Assembly::addLiveBlocks()
{
    std::map<std::int32_t, std::map<ProcessKey, std::vector<Allocation>>> allocators;
    for (const Allocation& event : m_whole.allocations)
        allocators[event.device][m_shared.rowInfos[event.rowId].key.processKey()].push_back(event);
    m_whole.allocations = {};
    for (auto& [device, ofProcesses] : allocators)
        if (ofProcesses.size() == 1)
            m_shared.builder.setMetadata(std::string(counter::kLiveBlocks) + (device == Allocation::kHost
                                                                                  ? std::string("cpu")
                                                                                  : "gpu" + std::to_string(device)),
                                         liveBlocksAtPeak(ofProcesses.begin()->second, m_threads));
}

void Assembly::addSamples(const std::vector<Sample>& samples)
{
    SeriesKey last;
    Series* series = nullptr;
    for (const Sample& sample : samples) {
        if (const SeriesKey key{sample.rowId, sample.name, sample.isChange}; !series || key != last) {
            series = &m_series[key];
            last = key;
        }
        series->isBytes = sample.isBytes;
        series->samples.push_back(sample.sample);
    }
    for (auto& [key, some] : m_series) {
        if (some.samples.empty())
            continue;
        if (!some.track) // hidden until nameCounters() gives it a name
            some.track = m_shared.builder.addTrack({});
        m_shared.builder.addSamples(*some.track, std::exchange(some.samples, {}),
                                    std::get<2>(key) ? SampleMeaning::Change : SampleMeaning::Value);
    }
}

// Information about the trace outside its events: devices, versions, ranks.

namespace {

using simdjson::SUCCESS;

/// 12040 → "12.4", following CUDA's version numbering.
std::string cudaVersion(std::int64_t number)
{
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// A figure of a device; 0 if it is missing or impossible.
int figure(simdjson::dom::element object, std::string_view key, std::int64_t limit = 1 << 30)
{
    std::int64_t number = 0;
    return object[key].get(number) == SUCCESS && number >= 0 && number < limit ? static_cast<int>(number) : 0;
}

/// The devices of "deviceProperties", by id.
std::map<std::uint32_t, Device> describedDevices(std::string_view json)
{
    std::map<std::uint32_t, Device> found;
    simdjson::dom::parser parser;
    simdjson::dom::array devices;
    if (parser.parse(simdjson::padded_string(json)).get(devices) != SUCCESS)
        return found;
    for (const simdjson::dom::element element : devices) {
        std::int64_t id = 0;
        std::string_view name, uuid;
        if (element["id"].get(id) != SUCCESS || id < 0 || id > 0xffff)
            continue;
        Device device{.id = DeviceId{static_cast<std::uint32_t>(id)}, .name = {}, .uuid = {}};
        if (element["name"].get(name) == SUCCESS)
            device.name = name;
        if (element["uuid"].get(uuid) == SUCCESS)
            device.uuid = uuid;
        device.computeMajor = figure(element, "computeMajor", 1000);
        device.computeMinor = figure(element, "computeMinor", 1000);
        std::int64_t bytes = 0;
        if (element["totalGlobalMem"].get(bytes) == SUCCESS)
            device.memoryBytes = bytes;
        device.multiprocessors = figure(element, "numSms");
        device.limits = {figure(element, "maxThreadsPerMultiprocessor"), figure(element, kBlocksPerSmKey),
                         figure(element, "regsPerMultiprocessor"), figure(element, "sharedMemPerMultiprocessor")};
        found.emplace(static_cast<std::uint32_t>(id), std::move(device));
    }
    return found;
}

void addDistributed(TraceBuilder& builder, std::string_view json)
{
    simdjson::dom::parser parser;
    simdjson::dom::element info;
    if (parser.parse(simdjson::padded_string(json)).get(info) != SUCCESS)
        return;
    std::int64_t number = 0;
    std::string_view text;
    for (const std::string_view key : {"rank", "world_size"})
        if (info[key].get(number) == SUCCESS)
            builder.setMetadata(std::string(key), std::to_string(number));
    if (info["backend"].get(text) == SUCCESS)
        builder.setMetadata("distributed.backend", std::string(text));
    if (info["nccl_version"].get(text) == SUCCESS)
        builder.setMetadata("versions.nccl", std::string(text));
}

constexpr std::string_view kOfCopy = "In the original trace: ";

/// The note without its byte position, which differs between a file and its copy.
std::string_view withoutPlace(std::string_view note)
{
    note = note.substr(0, std::min(note.rfind(" (byte "), note.rfind(" (the first at byte ")));
    while (note.ends_with('.'))
        note.remove_suffix(1);
    return note;
}

/// A note about the original trace. If that was a copy itself, the note is not prefixed twice.
Message copiedNote(std::string_view note, std::string_view id)
{
    note.remove_prefix(note.starts_with(kOfCopy) ? kOfCopy.size() : 0);
    return message<"json.copied_note", "In the original trace: {note}">({{"note", note}, {"note_id", id}});
}

/// Adds the losses of the original trace.
void addCapture(CaptureStats& stats, std::string_view json)
{
    simdjson::dom::parser parser;
    simdjson::dom::element capture;
    if (parser.parse(simdjson::padded_string(json)).get(capture) != SUCCESS)
        return;
    std::uint64_t dropped = 0;
    if (capture["dropped"].get(dropped) == SUCCESS)
        stats.dropped += dropped;
    bool cut = false;
    stats.cut = (capture["cut"].get(cut) == SUCCESS && cut) || stats.cut;
    simdjson::dom::array notes;
    if (capture["notes"].get(notes) != SUCCESS)
        return;
    simdjson::dom::array ids;
    const bool haveIds = capture["note_ids"].get(ids) == SUCCESS && ids.size() == notes.size();
    for (std::size_t i = 0; i < notes.size(); ++i) {
        std::string_view note, id;
        if (haveIds && ids.at(i).get(id) != SUCCESS)
            id = {};
        if (notes.at(i).get(note) == SUCCESS)
            stats.notes.push_back(copiedNote(note, id));
    }
}

void addVersion(TraceBuilder& builder, const std::string& key, std::string_view raw)
{
    constexpr std::pair<std::string_view, std::string_view> kVersions[] = {
        {"cuda_runtime_version", "versions.cuda_runtime"},
        {"cuda_driver_version", "versions.cuda_driver"},
        {"hip_runtime_version", "versions.hip_runtime"},
        {"hip_driver_version", "versions.hip_driver"},
        {"cupti_version", "versions.cupti"},
        {"cudnn_version", "versions.cudnn"},
        {"nccl_version", "versions.nccl"},
        {"pytorch_version", "versions.torch"},
        {"torch_version", "versions.torch"},
        {"python_version", "versions.python"},
    };
    for (const auto& [name, ours] : kVersions) {
        if (key != name)
            continue;
        const std::string text = plainValue(raw);
        const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos && text.size() < 10;
        builder.setMetadata(std::string(ours),
                            number && key.starts_with("cuda_") ? cudaVersion(std::stol(text)) : text);
    }
}

std::map<std::string, std::string> counterUnits(const TopLevelValues& values)
{
    std::map<std::string, std::string> units;
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    const auto raw = values.find(std::string(kUnitsKey));
    if (raw == values.end() || parser.parse(simdjson::padded_string(raw->second)).get(object) != SUCCESS)
        return units;
    for (const auto& [name, value] : object)
        if (std::string_view unit; value.get(unit) == SUCCESS)
            units.emplace(name, unit);
    return units;
}

} // namespace

void Assembly::nameCounters(const Processes& processes, const TopLevelValues& values)
{
    const std::map<std::string, std::string> units = counterUnits(values);
    for (auto& [key, series] : m_series) {
        const auto& [rowId, name, isChange] = key;
        Track counter;
        counter.kind = TrackKind::Counter;
        counter.name = m_shared.builder.string(StringId{name});
        const RowInfo& row = m_shared.rowInfos[rowId];
        if (const auto process = processes.find(row.key.processKey()); process != processes.end()) {
            counter.pid = process->second.pid;
            counter.processName = process->second.name;
            counter.processSortIndex = process->second.sortIndex;
        }
        const auto unit = units.find(counter.name);
        counter.unit = unit != units.end() ? unit->second : series.isBytes ? "bytes" : "";
        if (series.track)
            m_shared.builder.updateTrack(*series.track, std::move(counter));
    }
    m_series.clear();
}

void dropDuplicateNotes(std::vector<Message>& notes)
{
    std::set<std::string, std::less<>> own;
    for (const Message& note : notes)
        if (!note.text.starts_with(kOfCopy))
            own.emplace(withoutPlace(note.text));
    std::erase_if(notes, [&](const Message& note) {
        const std::string_view text = note.text;
        return text.starts_with(kOfCopy) && own.contains(withoutPlace(text.substr(kOfCopy.size())));
    });
}

void Assembly::addMetadata(const TopLevelValues& values)
{
    TraceBuilder& builder = m_shared.builder;
    std::map<std::uint32_t, Device> devices;
    for (const auto& [key, raw] : values) {
        if (key == kUnitsKey)
            continue;
        if (key == kCaptureKey) {
            addCapture(builder.captureStats(), raw);
            continue;
        }
        const bool ours = key.starts_with(kMetadataPrefix);
        builder.setMetadata(ours ? key.substr(kMetadataPrefix.size()) : "pytorch." + key, plainValue(raw));
        addVersion(builder, key, raw);
        if (key == "deviceProperties")
            devices.merge(describedDevices(raw));
        else if (key == "distributedInfo")
            addDistributed(builder, raw);
    }
    std::set<std::uint32_t> working;
    for (const RowInfo& row : m_shared.rowInfos) {
        const std::int64_t number = row.device.value_or(row.key.device);
        if (row.track && row.key.kind == RowKind::Device && number >= 0 && number < 0x10000)
            working.insert(static_cast<std::uint32_t>(number));
    }
    // ROCm describes its only GPU as device 0, but its work has the number of the GPU among all agents, often 2.
    if (devices.size() == 1 && working.size() == 1 && !devices.contains(*working.begin()))
        devices.emplace(*working.begin(), std::move(devices.extract(devices.begin()).mapped()));
    for (const std::uint32_t number : working)
        devices.try_emplace(number);
    for (auto& [number, device] : devices) {
        device.id = DeviceId{number};
        builder.addDevice(std::move(device));
    }
    for (const MetaEvent& event : m_whole.metadata)
        if (event.name == "Record Window End")
            builder.setMetadata("record.end_ns", event.args);
        else if (event.name.starts_with("Iteration Start:"))
            builder.setMetadata("record.begin_ns", event.args);
    builder.setMetadata("source.events", std::to_string(m_whole.events));
    builder.setMetadata("source.marked_ops", std::to_string(m_whole.markedOps));
}

} // namespace profiler::formats::json
