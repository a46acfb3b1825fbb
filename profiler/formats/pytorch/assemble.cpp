#include "profiler/formats/pytorch/assemble.h"
#include "profiler/formats/pytorch/own_keys.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <simdjson.h>
#include <span>
#include <tuple>
#include <utility>

namespace profiler::formats::json {

namespace {

template <class T>
void appendAll(std::vector<T>& whole, std::vector<T>&& part)
{
    whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

void unite(std::vector<bool>& whole, const std::vector<bool>& part)
{
    whole.resize(std::max(whole.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i)
        if (part[i])
            whole[i] = true;
}

void addFlow(SharedBuild& shared, Losses& losses, FlowKind kind, const FlowPoint& from, const FlowPoint& to)
{
    const auto source = shared.rowInfos[from.rowId].track, target = shared.rowInfos[to.rowId].track;
    if (source && target)
        shared.builder.addFlow(kind, {*source, traceTime(from.time)}, {*target, traceTime(to.time), to.ofNext});
    else
        losses.add(Loss::FlowWithoutRow, source ? to.offset : from.offset);
}

/// @param points  points with the same id and category, in time order
void assembleFlow(SharedBuild& shared, Losses& losses, std::span<const FlowPoint> points)
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
            addFlow(shared, losses, kind, *from, point);
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

void append(ScanResult& whole, ScanResult&& part)
{
    appendAll(whole.flows, std::move(part.flows));
    appendAll(whole.metadata, std::move(part.metadata));
    unite(whole.stepRows, part.stepRows);
    unite(whole.opRows, part.opRows);
    unite(whole.callRows, part.callRows);
    whole.losses.add(part.losses);
    whole.events += part.events;
    whole.deviceWork += part.deviceWork;
    whole.uncorrelated += part.uncorrelated;
    whole.launchFlows += part.launchFlows;
    whole.sequences += part.sequences;
    whole.markedOps += part.markedOps;
    whole.latest = std::max(whole.latest, part.latest);
}

void assembleFlows(SharedBuild& shared, ScanResult& whole)
{
    const std::vector<FlowPoint>& points = whole.flows;
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
            assembleFlow(shared, whole.losses, left.first(count));
            left = left.subspan(count);
        }
    }
    whole.flows = {};
}

namespace {

using ProcessKey = Processes::key_type; ///< number or hash of the text, and which of the two it is
struct Thread {
    ProcessKey process;
    std::int64_t thread;
    bool isText;
    friend auto operator<=>(const Thread&, const Thread&) = default;
};

struct Named {
    std::string name, labels;
    std::int32_t sortIndex = 0;
    std::optional<TrackKind> kind; ///< of a thread, if Stepscope wrote the file
};

struct NameTable {
    std::map<ProcessKey, Named> processes;
    std::map<Thread, Named> threads;
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
        const ProcessKey process{event.key.process, event.key.processIsText};
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
    const std::string stream = "stream " + std::to_string(key.stream);
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
    const auto number = names.numbers.find({key.process, key.processIsText});
    track.pid = number != names.numbers.end() ? number->second : key.processIsText ? 0 : key.process;
    track.processName = row.processText;
    const auto process = names.processes.find({key.process, key.processIsText});
    const bool onDevice = key.kind != RowKind::Host;
    if (process != names.processes.end()) {
        const Named& named = process->second;
        // The process of a device has the program's name; its label says which device it is.
        track.processName = onDevice && !named.labels.empty() ? named.labels : named.name;
        track.processSortIndex = named.sortIndex;
    }
    // The thread of a device row is either an id that our writer made up or 0.
    const auto thread = names.threads.find({{key.process, key.processIsText},
                                            onDevice && key.thread == 0 ? key.stream : key.thread,
                                            !onDevice && key.threadIsText});
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
            const ProcessKey process{row.key.process, row.key.processIsText};
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
            const auto found = numbers.find({row.key.device, {row.key.process, row.key.processIsText}});
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
        const ProcessKey process{key.process, key.processIsText};
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

Processes assembleRows(SharedBuild& shared, const ScanResult& whole, Losses& losses)
{
    NameTable names = readNames(whole, losses);
    numberProcesses(shared, whole, names);
    const bool anySteps = !whole.stepRows.empty();
    Processes processes;
    for (std::uint32_t i = 0; i < shared.rowInfos.size(); ++i) {
        const RowInfo& row = shared.rowInfos[i];
        Track track = makeTrack(row, names);
        if (row.key.kind == RowKind::Host)
            processes.try_emplace({row.key.process, row.key.processIsText},
                                  Process{track.pid, track.processName, track.processSortIndex});
        if (!row.track)
            continue;
        // The thread that contains the steps. Without steps, the thread whose id equals its process id, as on Linux.
        const bool main = anySteps ? contains(whole.stepRows, i)
                                   : contains(whole.opRows, i) && track.pid == track.tid && track.pid != 0;
        if (row.key.kind == RowKind::Host && main)
            track.kind = TrackKind::MainThread;
        shared.builder.updateTrack(*row.track, std::move(track));
    }
    return processes;
}

void LaunchCheck::add(const ScanResult& part)
{
    for (const ScanResult::Rows& rows : part.rows) {
        std::array<std::vector<SortKey>, 2>* calls = nullptr;
        for (const RawSlice& slice : rows.slices) {
            if (slice.link <= 0)
                continue;
            const SortKey call{slice.link, slice.source()};
            if (const bool runtime = slice.kind == ActivityKind::CudaRuntime;
                runtime || slice.kind == ActivityKind::CudaDriver) {
                calls = calls ? calls : &m_calls[rows.rowId];
                (*calls)[runtime].push_back(call);
            } else if (isDeviceWork(slice.kind)) {
                m_work.push_back(call);
            }
        }
    }
}

void LaunchCheck::report(const std::vector<RowInfo>& rows, Losses& losses)
{
    // If the file has no runtime call at all, calls were not recorded.
    if (m_calls.empty())
        return;
    std::map<std::tuple<std::int64_t, bool, std::size_t>, std::vector<SortKey>> processes;
    for (auto& [row, interfaces] : m_calls)
        for (std::size_t i = 0; i < interfaces.size(); ++i) {
            const RowKey& key = rows[row].key;
            std::vector<SortKey>& calls = processes[{key.process, key.processIsText, i}];
            calls.insert(calls.end(), interfaces[i].begin(), interfaces[i].end());
            interfaces[i] = {};
        }
    radixSort(m_work);
    for (auto& [process, calls] : processes) {
        radixSort(calls);
        for (std::size_t i = 0; i < calls.size(); ++i)
            if ((i > 0 && calls[i - 1].key == calls[i].key) ||
                (i + 1 < calls.size() && calls[i + 1].key == calls[i].key))
                losses.add(Loss::SharedCorrelation, calls[i].place);
        auto call = calls.begin();
        std::erase_if(m_work, [&](const SortKey& work) { // keeps what none of these calls launched
            while (call != calls.end() && call->key < work.key)
                ++call;
            return call != calls.end() && call->key == work.key;
        });
    }
    for (const SortKey& work : m_work)
        losses.add(Loss::NoLaunch, work.place);
}

} // namespace profiler::formats::json
