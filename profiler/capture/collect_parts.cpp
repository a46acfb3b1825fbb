#include "profiler/capture/collect_parts.h"

#include "profiler/capture/recording_scope.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace profiler::capture {

using container::EventRecord;
using container::EventType;
using container::FrameType;

namespace {

// Even with the longest string appended, a frame stays far below the limit of readers.
constexpr std::size_t kStringFrame = 1 << 20;

/// Whether the link of an event is a correlation id.
bool isCorrelated(const EventRecord& record)
{
    if (record.type != EventType::Slice && record.type != EventType::Begin && record.type != EventType::Device)
        return false;
    switch (record.kind) {
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
    case ActivityKind::GpuUserAnnotation:
    case ActivityKind::Sync:
    case ActivityKind::Overhead:
        return true;
    default:
        return isDeviceWork(record.kind);
    }
}

/// Takes a value off the front; false if there are too few bytes.
template <class T>
bool takeValue(std::span<const std::byte>& bytes, T& value)
{
    if (bytes.size() < sizeof value)
        return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

/// Assigns names, tracks and devices of a merged trace, and writes its file.
class IdRemapping {
public:
    explicit IdRemapping(container::FrameWriter& to) : m_to(to) {}

    std::uint32_t string(std::string_view text);
    std::uint32_t newTrack() { return m_tracks++; }
    /// Number for the next process that launches device work, in order of appearance.
    std::int64_t newLauncher() { return m_launchers++; }
    /// Number for a GPU: the number that its process uses, unless another GPU already has it.
    std::uint32_t device(std::uint32_t wanted, const std::string& uuid);
    /// Replaces the UUID in a counter's name by the GPU's number, if known: "GPU-0011… clock" becomes "GPU 1 clock".
    [[nodiscard]] std::string withGpuNumber(const std::string& counter) const;
    /// If a key is set more than once, the first value counts.
    void setMetadata(std::string_view key, std::string_view value);
    [[nodiscard]] bool hasMetadata(const std::string& key) const { return m_metadata.contains(key); }
    /// Adds all metadata of one process. Entries that describe the program ("program", "program.…") are taken as a
    /// whole from the process with the most training steps ("program.steps"), or from the first of several.
    void setMetadata(const std::map<std::string, std::string>& process);
    void addLoss(const container::LossEntry& loss);
    void countEvents(std::uint64_t events) { m_events += events; }
    [[nodiscard]] std::uint64_t events() const { return m_events; }
    [[nodiscard]] const container::LossEntry& loss() const { return m_loss; }
    /// True for the first clock frame; one is enough for a machine.
    bool takeClock();

    /// Writes a frame, preceded by the strings that it may refer to.
    Result<void> write(container::FrameType type, std::span<const std::byte> payload);
    /// Writes metadata, losses and the end.
    Result<void> finish();

private:
    Result<void> writeStrings();

    container::FrameWriter& m_to;
    std::unordered_map<std::string, std::uint32_t> m_strings{{"", 0}};
    std::vector<container::Payload> m_newStrings; ///< entries of frames still to be written
    std::uint32_t m_tracks = 0;
    std::int64_t m_launchers = 0;
    std::map<std::string, std::uint32_t> m_devices; ///< by UUID
    std::set<std::uint32_t> m_deviceNumbers;
    std::map<std::string, std::string> m_metadata;
    std::int64_t m_programSteps = -1; ///< of the process that describes the program; −1 if there is none yet
    container::LossEntry m_loss{};
    std::uint64_t m_events = 0;
    bool m_hasClock = false;
};

/// Remaps the ids in one process's part to those of the merged trace.
class TraceMerger {
public:
    explicit TraceMerger(IdRemapping& trace) : m_trace(trace) {}

    /// Adds a frame of the part. Ids that are not defined get a name that says so.
    Result<void> take(container::FrameType type, std::span<const std::byte> payload);
    /// Adds the contents of the ring file, after the frames.
    Result<void> take(const container::RecoveredEvents& leftovers);
    /// Call at the end of the part: adds up its losses and passes on its metadata, using the last value of each key.
    void end();

private:
    struct KnownTrack {
        std::uint32_t number = 0;
        std::uint64_t taken = 0; ///< number of records from its ring that have been added
        container::TrackEntry entry{};
    };
    std::uint32_t string(std::uint32_t id);
    KnownTrack& track(std::uint32_t number);
    std::int64_t correlation(std::int64_t id);
    void takeStrings(std::span<const std::byte> payload);
    Result<void> takeTracks(std::span<const std::byte> payload);
    Result<void> writeTrack(const KnownTrack& track);
    Result<void> takeBatch(const container::EventBatch& batch, std::vector<container::EventRecord>& records);
    Result<void> takePacked(std::span<const std::byte> payload);
    Result<void> takeDevice(std::span<const std::byte> payload);

    IdRemapping& m_trace;
    std::unordered_map<std::uint32_t, std::uint32_t> m_strings; ///< ids in the merged trace, by id in the part
    std::unordered_map<std::uint32_t, std::string> m_texts;
    std::unordered_map<std::uint32_t, KnownTrack> m_tracks;
    std::map<std::uint32_t, std::uint32_t> m_devices;
    std::map<std::string, std::string> m_facts;
    std::optional<std::int64_t> m_launcher; ///< set when the first correlation id is found
    container::LossEntry m_loss{};
    std::uint64_t m_missing = 0;
};

std::uint32_t IdRemapping::string(std::string_view text)
{
    const auto [at, isNew] = m_strings.try_emplace(std::string(text), static_cast<std::uint32_t>(m_strings.size()));
    if (!isNew)
        return at->second;
    if (m_newStrings.empty() || m_newStrings.back().size() > kStringFrame)
        m_newStrings.emplace_back();
    container::appendString(m_newStrings.back(), at->second, text);
    return at->second;
}

std::uint32_t IdRemapping::device(std::uint32_t wanted, const std::string& uuid)
{
    if (const auto known = m_devices.find(uuid); known != m_devices.end())
        return known->second;
    while (!m_deviceNumbers.insert(wanted).second)
        ++wanted;
    m_devices.emplace(uuid, wanted);
    return wanted;
}

std::string IdRemapping::withGpuNumber(const std::string& counter) const
{
    const std::size_t end = counter.find(' ');
    const auto known = end != std::string::npos ? m_devices.find(counter.substr(0, end)) : m_devices.end();
    return known != m_devices.end() ? "GPU " + std::to_string(known->second) + counter.substr(end) : counter;
}

void IdRemapping::setMetadata(std::string_view key, std::string_view value)
{
    m_metadata.try_emplace(std::string(key), value);
}

void IdRemapping::setMetadata(const std::map<std::string, std::string>& process)
{
    constexpr std::string_view kProgram = "program";
    const auto ofProgram = [&](const std::string& key) {
        return key.starts_with(kProgram) && (key.size() == kProgram.size() || key[kProgram.size()] == '.');
    };
    std::int64_t steps = 0;
    if (const auto told = process.find("program.steps"); told != process.end())
        std::from_chars(told->second.data(), told->second.data() + told->second.size(), steps);
    const bool describes = process.contains(std::string(kProgram)) && steps > m_programSteps;
    if (describes) {
        std::erase_if(m_metadata, [&](const auto& entry) { return ofProgram(entry.first); });
        m_programSteps = steps;
    }
    for (const auto& [key, value] : process)
        if (!key.starts_with(rank_key::kPrefix) && (describes || m_programSteps < 0 || !ofProgram(key)))
            setMetadata(key, value);
}

void IdRemapping::addLoss(const container::LossEntry& loss)
{
    m_loss.dropped += loss.dropped;
    m_loss.unmatched += loss.unmatched;
}

bool IdRemapping::takeClock()
{
    return !std::exchange(m_hasClock, true);
}

Result<void> IdRemapping::writeStrings()
{
    for (const container::Payload& payload : m_newStrings)
        if (auto written = m_to.write(FrameType::Strings, payload); !written)
            return written;
    m_newStrings.clear();
    return {};
}

Result<void> IdRemapping::write(FrameType type, std::span<const std::byte> payload)
{
    if (auto written = writeStrings(); !written)
        return written;
    return m_to.write(type, payload);
}

Result<void> IdRemapping::finish()
{
    container::Payload payload;
    for (const auto& [key, value] : m_metadata) {
        const std::uint32_t keyId = string(key);
        container::appendMetadata(payload, keyId, string(value));
    }
    if (auto written = write(FrameType::Metadata, payload); !written)
        return written;
    payload.clear();
    container::appendLoss(payload, m_loss);
    if (auto written = write(FrameType::Loss, payload); !written)
        return written;
    return write(FrameType::End, {});
}

std::uint32_t TraceMerger::string(std::uint32_t id)
{
    if (id == 0)
        return 0;
    const auto [at, isNew] = m_strings.try_emplace(id, 0);
    if (isNew)
        at->second = m_trace.string("(lost name " + std::to_string(id) + ")");
    return at->second;
}

TraceMerger::KnownTrack& TraceMerger::track(std::uint32_t number)
{
    const auto [at, isNew] = m_tracks.try_emplace(number);
    if (isNew)
        at->second.number = m_trace.newTrack();
    return at->second;
}

/// CUPTI counts from 1 in each process, so the process number is added above the id's 32 bits.
std::int64_t TraceMerger::correlation(std::int64_t id)
{
    if (id <= 0)
        return id;
    if (!m_launcher)
        m_launcher = m_trace.newLauncher();
    return *m_launcher << 32 | (id & 0xffffffff);
}

Result<void> TraceMerger::take(FrameType type, std::span<const std::byte> payload)
{
    switch (type) {
    case FrameType::Clock:
        return m_trace.takeClock() ? m_trace.write(type, payload) : Result<void>{};
    case FrameType::Strings:
        takeStrings(payload);
        return {};
    case FrameType::Tracks:
        return takeTracks(payload);
    case FrameType::PackedEvents:
        return takePacked(payload);
    case FrameType::Device:
        return takeDevice(payload);
    case FrameType::Metadata:
        for (std::uint32_t pair[2]; takeValue(payload, pair);)
            m_facts.insert_or_assign(m_texts[pair[0]], m_texts[pair[1]]);
        return {};
    case FrameType::Process: {
        container::ProcessEntry process{};
        if (!takeValue(payload, process))
            return {};
        process.name = string(process.name);
        return m_trace.write(type, std::as_bytes(std::span(&process, 1)));
    }
    case FrameType::Loss:
        takeValue(payload, m_loss); // totals: the last one counts
        return {};
    default: // End; parts contain neither Events, which only version 1 has, nor blocks
        return {};
    }
}

void TraceMerger::takeStrings(std::span<const std::byte> payload)
{
    container::StringEntry entry{};
    while (takeValue(payload, entry) && entry.bytes <= payload.size()) {
        const std::string_view text(reinterpret_cast<const char*>(payload.data()), entry.bytes);
        m_strings[entry.id] = m_trace.string(text);
        m_texts[entry.id] = text;
        payload = payload.subspan(std::min<std::size_t>((entry.bytes + 3) / 4 * 4, payload.size()));
    }
}

Result<void> TraceMerger::writeTrack(const KnownTrack& known)
{
    container::TrackEntry entry = known.entry;
    entry.track = known.number;
    // The process that samples the GPUs names them by UUID; the numbers that the program uses come from other
    // processes.
    entry.name = entry.kind == static_cast<std::uint32_t>(TrackKind::Counter)
                     ? m_trace.string(m_trace.withGpuNumber(m_texts[entry.name]))
                     : string(entry.name);
    entry.unit = string(entry.unit);
    if (const auto device = m_devices.find(entry.device); device != m_devices.end())
        entry.device = device->second;
    return m_trace.write(FrameType::Tracks, std::as_bytes(std::span(&entry, 1)));
}

Result<void> TraceMerger::takeTracks(std::span<const std::byte> payload)
{
    container::TrackEntry entry{};
    while (takeValue(payload, entry)) {
        KnownTrack& known = track(entry.track);
        known.entry = entry;
        if (auto written = writeTrack(known); !written)
            return written;
    }
    return {};
}

Result<void> TraceMerger::takeDevice(std::span<const std::byte> payload)
{
    container::DeviceEntry entry{};
    if (!takeValue(payload, entry))
        return {};
    const std::uint32_t wanted = entry.device;
    entry.device = m_trace.device(wanted, m_texts[entry.uuid]);
    entry.name = string(entry.name);
    entry.uuid = string(entry.uuid);
    m_devices[wanted] = entry.device;
    container::DeviceFacts facts{};
    takeValue(payload, facts);
    container::DeviceLimits limits{};
    takeValue(payload, limits);
    container::Payload deviceEntry;
    container::appendDevice(deviceEntry, entry, facts, limits);
    if (auto written = m_trace.write(FrameType::Device, deviceEntry); !written)
        return written;
    // Tracks of its streams may have been written before it.
    for (const auto& [number, known] : m_tracks)
        if (wanted != entry.device && known.entry.device == wanted)
            if (auto written = writeTrack(known); !written)
                return written;
    return {};
}

Result<void> TraceMerger::takePacked(std::span<const std::byte> payload)
{
    container::EventBatch batch{};
    std::vector<EventRecord> records;
    while (!payload.empty() && container::takePackedEvents(payload, batch, records))
        if (auto taken = takeBatch(batch, records); !taken)
            return taken;
    return {};
}

Result<void> TraceMerger::takeBatch(const container::EventBatch& batch, std::vector<EventRecord>& records)
{
    KnownTrack& known = track(batch.track);
    std::size_t skip = 0; // number of records that are in both a frame and the ring
    if (batch.firstIndex != container::kNotFromRing) {
        skip = std::min<std::uint64_t>(known.taken > batch.firstIndex ? known.taken - batch.firstIndex : 0,
                                       records.size());
        m_missing += batch.firstIndex > known.taken ? batch.firstIndex - known.taken : 0;
        known.taken = std::max(known.taken, batch.firstIndex + records.size());
    }
    const std::span rest = std::span(records).subspan(skip);
    for (EventRecord& record : rest) {
        if (container::isSecondSlot(record.type))
            continue;
        const bool namesTrack = record.type == EventType::Counter || record.type == EventType::Flow;
        record.name = namesTrack ? track(record.name).number : string(record.name);
        record.detail = string(record.detail);
        if (record.kind == ActivityKind::CpuOp && !namesTrack)
            record.bytes = string(record.bytes);
        if (isCorrelated(record))
            record.link = correlation(record.link);
    }
    m_trace.countEvents(
        static_cast<std::uint64_t>(std::count_if(rest.begin(), rest.end(), [](const EventRecord& record) {
            return record.type == EventType::Slice || record.type == EventType::Device;
        })));
    for (std::size_t at = 0; at < rest.size(); at += container::kMaxPackedRecords) {
        container::Payload payload;
        container::appendPackedEvents(payload, {known.number, 0, container::kNotFromRing},
                                      rest.subspan(at, std::min(container::kMaxPackedRecords, rest.size() - at)));
        if (auto written = m_trace.write(FrameType::PackedEvents, payload); !written)
            return written;
    }
    return {};
}

Result<void> TraceMerger::take(const container::RecoveredEvents& leftovers)
{
    for (const auto& [id, text] : leftovers.strings) {
        m_strings[id] = m_trace.string(text);
        m_texts[id] = text;
    }
    for (const container::TrackEntry& entry : leftovers.tracks) {
        KnownTrack& known = track(entry.track);
        known.entry = entry;
        if (auto written = writeTrack(known); !written)
            return written;
    }
    for (const auto& thread : leftovers.lanes) {
        std::vector<EventRecord> records = thread.events;
        const container::EventBatch batch{thread.track.track, static_cast<std::uint32_t>(records.size()),
                                          thread.firstIndex};
        if (auto taken = takeBatch(batch, records); !taken)
            return taken;
    }
    m_loss.dropped = std::max(m_loss.dropped, leftovers.dropped);
    m_loss.unmatched = std::max(m_loss.unmatched, leftovers.unmatched);
    return {};
}

void TraceMerger::end()
{
    m_trace.addLoss({m_loss.dropped + m_missing, m_loss.unmatched});
    m_trace.setMetadata(m_facts);
}

/// The pid in a file name that consists of the trace's name, a dot, and "123" or "123.2".
std::optional<std::int64_t> pidIn(std::string_view name, std::string_view trace)
{
    if (name.size() <= trace.size() + 1 || !name.starts_with(trace) || name[trace.size()] != '.')
        return std::nullopt;
    const std::string_view rest = name.substr(trace.size() + 1);
    std::int64_t pid = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    if (failed != std::errc{} || pid <= 0)
        return std::nullopt;
    const std::string_view number(end, rest.data() + rest.size());
    const bool whole = number.empty() || (number.size() > 1 && number[0] == '.' &&
                                          number.find_first_not_of("0123456789", 1) == std::string_view::npos);
    return whole ? std::optional(pid) : std::nullopt;
}

struct OpenPart {
    container::TraceHeader header;
    container::FrameScanner scanner;
};

Result<OpenPart> openPart(const std::filesystem::path& path)
{
    auto file = container::InputFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    const auto header = container::readHeader(*file);
    if (!header)
        return tl::unexpected(header.error());
    if (header->isSealed)
        return fail<"record.no_part", "the file is not part of a trace">(Error::Code::Malformed, path.string());
    return OpenPart{*header, container::FrameScanner(std::move(*file), header->headerBytes)};
}

/// Adds one process's frames to the trace. Frames that cannot be read become a note; only write errors are returned.
Result<void> takePart(const TracePart& part, TraceMerger& to, Collected& collected)
{
    const MessageParameter process{"process", part.pid};
    const auto noteError = [&](const Error& error) {
        collected.notes.push_back(message<"record.part.unread", "process {process}: {why}">(
            {process, {"why", error.message()}, {"error", error.what.id}}));
    };
    auto open = openPart(part.path);
    if (!open) {
        noteError(open.error());
        return {};
    }
    if (auto sized = open->scanner.refresh(); !sized) {
        noteError(sized.error());
        return {};
    }
    bool ended = false, usesGpu = false;
    for (;;) {
        const auto next = open->scanner.next(true);
        if (!next) {
            noteError(next.error());
            break;
        }
        if (next->what == container::Scanned::What::Nothing)
            break;
        if (next->what == container::Scanned::What::Damage) {
            collected.notes.push_back(
                message<"record.part.damaged", "process {process}: {bytes} bytes are damaged at offset {byte}">(
                    {process, {"bytes", next->bytes}, {"byte", next->offset}}));
            continue;
        }
        ended = ended || next->header.type == container::FrameType::End;
        usesGpu = usesGpu || next->header.type == container::FrameType::Device;
        if (auto taken = to.take(next->header.type, next->payload); !taken)
            return taken;
    }
    if (ended)
        return {};
    const auto leftovers = container::recoverRing(part.path, open->header.runId);
    if (!leftovers) {
        collected.notes.push_back(
            message<"record.part.lost_end",
                    "process {process} did not end its trace, and its last events are lost: {why}">(
                {process, {"why", leftovers.error().message()}, {"error", leftovers.error().what.id}}));
        return {};
    }
    // The ring has the last CPU events, so that a process without a GPU, like a loader worker that is killed at the end
    // of each program, loses nothing.
    if (usesGpu)
        collected.notes.push_back(
            message<"record.part.not_ended", "process {process} did not end its trace; its CPU events are complete, "
                                             "but the GPU events since the last flush may be missing">({process}));
    return to.take(*leftovers);
}

} // namespace

std::vector<TracePart> findParts(const std::filesystem::path& trace)
{
    std::vector<TracePart> parts;
    const auto folder = trace.has_parent_path() ? trace.parent_path() : std::filesystem::path(".");
    std::error_code failed;
    for (auto entry = std::filesystem::directory_iterator(folder, failed);
         !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        const auto pid = pidIn(entry->path().filename().string(), trace.filename().string());
        if (pid && openPart(entry->path()))
            parts.push_back({entry->path(), *pid});
    }
    std::sort(parts.begin(), parts.end(), [](const TracePart& a, const TracePart& b) {
        return std::pair(a.pid, a.path.native().size()) < std::pair(b.pid, b.path.native().size()) ||
               (a.pid == b.pid && a.path.native().size() == b.path.native().size() && a.path < b.path);
    });
    return parts;
}

std::map<std::string, std::string> metadataOf(const TracePart& part)
{
    auto open = openPart(part.path);
    if (!open || !open->scanner.refresh())
        return {};
    std::map<std::uint32_t, std::string> texts;
    std::map<std::string, std::string> metadata;
    for (;;) {
        const auto next = open->scanner.next(true);
        if (!next || next->what == container::Scanned::What::Nothing)
            return metadata;
        if (next->what == container::Scanned::What::Damage)
            continue;
        std::span<const std::byte> payload = next->payload;
        if (next->header.type == container::FrameType::Strings) {
            container::StringEntry entry{};
            while (takeValue(payload, entry) && entry.bytes <= payload.size()) {
                texts[entry.id] = {reinterpret_cast<const char*>(payload.data()), entry.bytes};
                payload = payload.subspan(std::min<std::size_t>((entry.bytes + 3) / 4 * 4, payload.size()));
            }
        } else if (next->header.type == container::FrameType::Metadata) {
            for (std::uint32_t pair[2]; takeValue(payload, pair);)
                metadata.insert_or_assign(texts[pair[0]], texts[pair[1]]);
        }
    }
}

Result<Collected> collectParts(const std::vector<TracePart>& parts, const CollectOptions& options)
{
    std::random_device random;
    auto writer = container::FrameWriter::create(options.trace, std::uint64_t{random()} << 32 | random());
    if (!writer)
        return tl::unexpected(writer.error());
    Collected collected;
    collected.notes = options.notes;
    IdRemapping numbers(**writer);
    // Main process first: if two processes set the same key, the first value counts.
    std::vector<TracePart> ordered = parts;
    std::stable_partition(ordered.begin(), ordered.end(),
                          [&](const TracePart& part) { return part.pid == options.mainProcess; });
    std::int64_t before = 0;
    for (const TracePart& part : ordered) {
        TraceMerger renumbering(numbers);
        if (auto taken = takePart(part, renumbering, collected); !taken)
            return tl::unexpected(taken.error());
        renumbering.end();
        collected.processes += part.pid != before ? 1 : 0;
        before = part.pid;
    }
    for (const auto& [key, value] : options.metadata)
        numbers.setMetadata(key, value);
    // Helpers of uv and pip are started with -I; what matters is whether the process that trains has the hooks.
    if (numbers.hasMetadata("program"))
        std::erase_if(collected.notes, [](const Message& note) { return note.id == "record.hooks_kept_out"; });
    if (!collected.notes.empty()) // what is missing in the recording, as every reader shows it
        numbers.setMetadata("record.note", messageLines(collected.notes));
    if (auto ended = numbers.finish(); !ended)
        return tl::unexpected(ended.error());
    collected.events = numbers.events();
    collected.dropped = numbers.loss().dropped;
    (*writer)->close();
    // The trace is complete without this. If it fails, for example on a full disk, the live file stays.
    static_cast<void>(container::sealTrace(options.trace));
    return collected;
}

void removeParts(const std::vector<TracePart>& parts)
{
    std::error_code ignored; // files that cannot be deleted stay; the trace itself is complete
    for (const TracePart& part : parts) {
        std::filesystem::remove(part.path, ignored);
        std::filesystem::remove(container::ringPath(part.path), ignored);
    }
}

} // namespace profiler::capture
