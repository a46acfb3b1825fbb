#include "profiler/formats/container/trace_reader.h"

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame_decoder.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/slice_blocks.h"
#include "profiler/formats/container/slice_details.h"
#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_meta.h"
#include "profiler/model/number_text.h"
#include "profiler/model/parallel.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace profiler::container {

namespace {

constexpr std::size_t kMaxNotes = 20;
constexpr std::uint64_t kBytesBetweenProgress = 4U << 20;
constexpr std::uint64_t kBytesASlice = 40; ///< in memory; an upper bound for most traces

/// Reads a sealed file.
class SealedReader {
public:
    SealedReader(std::shared_ptr<const BlockFile> file, const TraceHeader& header, const ReadOptions& options)
        : m_file(std::move(file)), m_header(header), m_options(options),
          m_threads(options.threads > 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U))
    {
    }
    Result<std::shared_ptr<const Trace>> read();

private:
    Result<void> readMeta();
    bool readOverview();
    void readDetailsIndex();
    void findDetails(std::uint64_t end);
    void takeDetails(std::uint64_t offset);
    void setDetails();
    void scanBlocks(std::uint64_t offset);
    void setOnDemand();
    bool decodeAll();
    bool checkAll();
    bool eachBlock(const std::function<void(std::size_t)>& work);
    void leaveOutDamaged();
    void addFlows();
    void note(Message text);
    [[nodiscard]] std::uint64_t budget() const;

    std::shared_ptr<const BlockFile> m_file;
    const TraceHeader& m_header;
    const ReadOptions& m_options;
    unsigned m_threads;
    std::uint64_t m_metaEnd = 0; ///< end of the first Meta block
    TraceBuilder m_builder;
    DecodedMeta m_meta;
    std::vector<BlockEntry> m_entries;
    std::vector<DetailsEntry> m_details;
    std::vector<std::shared_ptr<const TrackBlock>> m_blocks; ///< by entry; empty: not decoded
    std::vector<std::string> m_faults;                       ///< by entry; empty: no fault
    /// By track: maps the first ordinal of an entry in the file to its current first ordinal and its number of slices.
    std::vector<std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>> m_moved;
    std::size_t m_notes = 0;
};

void SealedReader::note(Message text)
{
    CaptureStats& stats = m_builder.captureStats();
    if (++m_notes <= kMaxNotes)
        stats.notes.push_back(std::move(text));
    else if (m_notes == kMaxNotes + 1)
        stats.notes.push_back(message<"trace.more_notes", "and more notes like these">());
}

std::uint64_t SealedReader::budget() const
{
    return m_options.memoryBudget > 0 ? m_options.memoryBudget : shareOfMemory();
}

Result<void> SealedReader::readMeta()
{
    auto raw = m_file->read(m_header.headerBytes, FrameType::Meta);
    std::uint64_t at = m_header.headerBytes;
    if (!raw && raw.error().code == Error::Code::Malformed) {
        at = findBlock(*m_file, at, FrameType::Meta, m_options.stop);
        if (at < m_file->size())
            raw = m_file->read(at, FrameType::Meta);
    }
    if (raw)
        m_meta = decodeMeta(*raw, m_header.version, m_builder);
    if (!m_meta.good)
        return tl::unexpected(
            Error{.code = raw ? Error::Code::Malformed : raw.error().code,
                  .what = raw ? message<"trace.bad_names", "the names and tracks of the trace are damaged">()
                              : raw.error().what,
                  .where = fmt::format("{}, byte {}", m_file->path().string(), m_header.headerBytes),
                  .hint = "convert the trace that it was saved from again"});
    const auto place = m_file->placeAt(at); // of the copy, which has the same length
    m_metaEnd = m_header.headerBytes + (place ? place->end() - at : 0);
    if (at != m_header.headerBytes)
        note(message<"trace.names_copy",
                     "the names and tracks at byte {byte} are damaged; their copy at byte {copy} was used">(
            {{"byte", m_header.headerBytes}, {"copy", at}}));
    return {};
}

bool SealedReader::readOverview()
{
    if (m_header.overviewOffset == 0)
        return false;
    const auto raw = m_file->read(m_header.overviewOffset, FrameType::Overview);
    auto entries =
        raw ? decodeOverview(*raw, m_meta.limits.tracks, m_meta.limits.strings, m_header.version) : std::nullopt;
    if (entries)
        m_entries = std::move(*entries);
    return entries.has_value();
}

/// The index follows the overview if the file has details.
void SealedReader::readDetailsIndex()
{
    const auto overview = m_file->placeAt(m_header.overviewOffset);
    const std::uint64_t offset = overview ? overview->end() : 0;
    if (!overview || offset >= m_header.fileBytes)
        return;
    const auto raw = m_file->read(offset, FrameType::DetailsIndex);
    auto index = raw ? decodeDetailsIndex(*raw) : std::nullopt;
    if (!index) {
        m_builder.captureStats().cut = true;
        note(message<"trace.bad_index",
                     "the index of slice details at byte {byte} is missing or damaged; only the details that could "
                     "be found are available">({{"byte", offset}}));
        findDetails(m_header.overviewOffset);
        return;
    }
    m_details = std::move(index->entries);
    if (index->unread > 0)
        note(message<"trace.unread_details",
                     "the details of {count} slices could not be read when this copy was made: {why}">(
            {{"count", index->unread, countText(index->unread)}, {"why", index->whyUnread}}));
}

/// Finds Details blocks one after the other, as far as they are intact.
void SealedReader::findDetails(std::uint64_t end)
{
    for (std::uint64_t offset = m_metaEnd; offset < end && !m_options.stop.stop_requested();) {
        const auto place = m_file->placeAt(offset);
        if (!place)
            break;
        if (place->type == FrameType::Details)
            takeDetails(offset);
        offset = place->end();
    }
}

void SealedReader::takeDetails(std::uint64_t offset)
{
    const auto raw = m_file->read(offset, FrameType::Details);
    const auto head = raw ? headOfDetails(*raw) : std::nullopt;
    if (head && (m_details.empty() || head->first > m_details.back().first))
        m_details.push_back({head->first, offset});
}

void SealedReader::setDetails()
{
    if (!m_details.empty())
        m_builder.setArgSource(std::make_shared<SealedDetails>(m_file, m_details));
}

/// Finds blocks one after the other and skips damaged bytes.
void SealedReader::scanBlocks(std::uint64_t offset)
{
    BlockSearch search(*m_file);
    std::uint64_t damagedFrom = 0;
    std::uint64_t slices = 0;
    while (offset < m_file->size() && !m_options.stop.stop_requested()) {
        const auto place = m_file->placeAt(offset);
        if (!place) {
            damagedFrom = damagedFrom == 0 ? offset : damagedFrom;
            offset = search.next(offset + 1); // blocks can start at any byte
            continue;
        }
        if (damagedFrom != 0)
            note(message<"trace.damaged", "{bytes} damaged bytes at byte {byte} were skipped">(
                {{"bytes", offset - damagedFrom, countText(offset - damagedFrom)}, {"byte", damagedFrom}}));
        damagedFrom = 0;
        if (place->type == FrameType::Slices) {
            const auto raw = m_file->read(offset, FrameType::Slices);
            const BlockHead head = raw ? headOfBlock(*raw).value_or(BlockHead{}) : BlockHead{};
            slices += head.count;
            if (slices * kBytesASlice > budget()) {
                note(message<"trace.too_many_slices",
                             "from byte {byte} on the file has more slices than there is memory for">(
                    {{"byte", offset}}));
                break;
            }
            if (head.count > 0 && head.track < m_meta.limits.tracks)
                m_entries.push_back({head.track, offset, head.count, head.firstOrdinal, {}});
            else
                note(message<"trace.bad_block_left_out", "the damaged block at byte {byte} was skipped">(
                    {{"byte", offset}}));
        }
        if (place->type == FrameType::Details)
            takeDetails(offset);
        offset = place->end();
    }
    if (damagedFrom != 0)
        note(message<"trace.cut_block", "the last {bytes} bytes, from byte {byte}, are not a complete block">(
            {{"bytes", m_file->size() - damagedFrom, countText(m_file->size() - damagedFrom)}, {"byte", damagedFrom}}));
    std::stable_sort(m_entries.begin(), m_entries.end(), [](const BlockEntry& a, const BlockEntry& b) {
        return std::pair{a.track, a.firstOrdinal} < std::pair{b.track, b.firstOrdinal};
    });
}

void SealedReader::setOnDemand()
{
    const BlockLimits limits{m_meta.limits.strings, m_meta.limits.args};
    const auto source = std::make_shared<SealedBlocks>(m_file, limits, m_entries, budget() / 2);
    std::vector<std::vector<BlockRef>> blocks(m_meta.limits.tracks);
    for (std::uint32_t i = 0; i < m_entries.size(); ++i)
        blocks[m_entries[i].track].emplace_back(m_entries[i].summary, source, i);
    for (std::uint32_t track = 0; track < blocks.size(); ++track)
        m_builder.setBlocks(TrackId{track}, std::move(blocks[track]));
}

bool SealedReader::eachBlock(const std::function<void(std::size_t)>& work)
{
    const auto caller = std::this_thread::get_id();
    std::atomic<std::size_t> done = 0;
    parallelFor(m_entries.size(), m_threads, [&](std::size_t i) {
        if (m_options.stop.stop_requested())
            return;
        work(i);
        ++done;
        if (m_options.progress && std::this_thread::get_id() == caller)
            m_options.progress(static_cast<double>(done) / static_cast<double>(m_entries.size()));
    });
    return !m_options.stop.stop_requested();
}

bool SealedReader::decodeAll()
{
    const BlockLimits limits{m_meta.limits.strings, m_meta.limits.args};
    return eachBlock([&](std::size_t i) {
        if (m_blocks[i] && m_blocks[i]->summary.smallestOrdinal == m_entries[i].firstOrdinal)
            return;
        auto block = readBlock(*m_file, m_entries[i], limits);
        m_blocks[i] = block.value_or(nullptr);
        if (!block)
            m_faults[i] = block.error().message();
    });
}

bool SealedReader::checkAll()
{
    return eachBlock([&](std::size_t i) {
        if (const auto good = m_file->check(m_entries[i].offset, FrameType::Slices); !good)
            m_faults[i] = good.error().message();
    });
}

/// Removes damaged blocks. Later blocks move up, so that ordinals have no gaps.
void SealedReader::leaveOutDamaged()
{
    const bool any = std::any_of(m_faults.begin(), m_faults.end(), [](const auto& fault) { return !fault.empty(); });
    m_moved.assign(m_meta.limits.tracks, {});
    std::vector<std::uint32_t> next(m_meta.limits.tracks);
    std::vector<BlockEntry> entries;
    std::vector<std::shared_ptr<const TrackBlock>> blocks;
    const bool onDemand = m_blocks.empty();
    // The preview shares the summaries, so the changed ones are read again.
    if (any && onDemand)
        readOverview();
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        BlockEntry& entry = m_entries[i];
        if (!m_faults[i].empty()) {
            note(message<"trace.missing_slices", "{count} slices of track \"{track}\" are missing: {why}">(
                {{"count", entry.count, countText(entry.count)},
                 {"track", m_builder.trackName(TrackId{entry.track})},
                 {"why", m_faults[i]}}));
            continue;
        }
        const std::uint32_t old = entry.firstOrdinal;
        entry.firstOrdinal = std::exchange(next[entry.track], next[entry.track] + entry.count);
        m_moved[entry.track].emplace(old, std::pair{entry.firstOrdinal, entry.count});
        if (any && onDemand) {
            auto summary = std::const_pointer_cast<BlockSummary>(entry.summary);
            summary->smallestOrdinal = entry.firstOrdinal;
            summary->largestOrdinal = entry.firstOrdinal + entry.count - 1;
        }
        entries.push_back(entry);
        blocks.push_back(onDemand ? nullptr : m_blocks[i]);
    }
    m_entries = std::move(entries);
    m_faults.assign(m_entries.size(), {});
    if (!onDemand)
        m_blocks = std::move(blocks);
}

void SealedReader::addFlows()
{
    const auto moved = [this](SliceId& id) {
        if (id.track.value >= m_moved.size())
            return false;
        const auto& blocks = m_moved[id.track.value];
        auto block = blocks.upper_bound(id.ordinal);
        if (block == blocks.begin() || id.ordinal - std::prev(block)->first >= std::prev(block)->second.second)
            return false;
        --block;
        id.ordinal = block->second.first + (id.ordinal - block->first);
        return true;
    };
    std::erase_if(m_meta.flows, [&](Flow& flow) { return !moved(flow.from) || !moved(flow.to); });
    m_builder.addFlows(std::move(m_meta.flows));
}

Result<std::shared_ptr<const Trace>> SealedReader::read()
{
    if (auto meta = readMeta(); !meta)
        return tl::unexpected(meta.error());
    if (const auto left = leaveSamples(m_builder, m_file, m_metaEnd, m_meta.pieces, budget()); left > 0)
        note(message<"trace.too_many_samples", "{count} counter values do not fit in memory and were left out">(
            {{"count", left, countText(left)}}));
    const bool overview = readOverview();
    if (!overview) {
        m_builder.captureStats().cut = true;
        note(message<"trace.no_overview",
                     "the overview at the end of the file is missing or damaged; only the blocks that could be "
                     "found are shown">());
        scanBlocks(m_metaEnd);
    } else {
        readDetailsIndex();
    }
    setDetails();
    if (overview && m_options.preview) {
        setOnDemand();
        m_options.preview(m_builder.snapshot());
    }
    std::uint64_t slices = 0;
    for (const BlockEntry& entry : m_entries)
        slices += entry.count;
    const bool fits = !overview || (!m_options.onDemand && slices * kBytesASlice <= budget());
    m_faults.resize(m_entries.size());
    m_blocks.resize(fits ? m_entries.size() : 0);
    bool finished = fits ? decodeAll() : m_options.onDemand || checkAll();
    leaveOutDamaged();
    if (!fits)
        setOnDemand();
    else if (finished && decodeAll()) { // blocks that moved up
        std::vector<std::vector<BlockRef>> blocks(m_meta.limits.tracks);
        for (std::size_t i = 0; i < m_blocks.size(); ++i) {
            if (m_blocks[i])
                blocks[m_entries[i].track].emplace_back(std::move(m_blocks[i]));
        }
        for (std::uint32_t track = 0; track < blocks.size(); ++track)
            m_builder.setBlocks(TrackId{track}, std::move(blocks[track]));
    }
    if (m_options.stop.stop_requested() || !finished)
        return fail<"open.trace_cancelled", "opening the trace was cancelled">(Error::Code::Cancelled,
                                                                               m_file->path().string());
    addFlows();
    auto trace = m_builder.finish();
    if (m_options.progress)
        m_options.progress(1);
    return trace;
}

/// Reads a sealed trace file. Damaged blocks are skipped and reported with their byte offsets in captureStats(). Fails
/// if the Meta block is missing.
Result<std::shared_ptr<const Trace>> readBlocks(InputFile file, const TraceHeader& header, const ReadOptions& options)
{
    const auto blocks = std::make_shared<const BlockFile>(std::move(file), header.isOldSealed);
    return SealedReader{blocks, header, options}.read();
}

/// Searches backwards from the end in growing windows, because a trace may be long and the last slice is usually near
/// its end.
std::optional<TraceTime> lastEnd(const Trace& trace, TrackId track)
{
    constexpr std::uint64_t kFirstWindow = 1'000'000; // ns
    constexpr std::uint64_t kGrows = 8;
    const TimeRange whole = trace.range();
    // Damaged times may span more nanoseconds than a signed integer can hold.
    const std::uint64_t span =
        static_cast<std::uint64_t>(toNs(whole.end)) - static_cast<std::uint64_t>(toNs(whole.begin));
    std::optional<TraceTime> last;
    for (std::uint64_t back = kFirstWindow; !last; back = back > span / kGrows ? span : back * kGrows) {
        const bool isAll = back >= span;
        const TimeRange window{isAll ? whole.begin : whole.end - Nanoseconds(static_cast<std::int64_t>(back)),
                               whole.end};
        trace.forEach(track, window, [&](const Slice& slice) {
            last = last ? std::max(*last, slice.end()) : slice.end();
            return true;
        });
        if (isAll)
            break;
    }
    return last;
}

} // namespace

Message deviceLoss(const Trace& trace)
{
    std::map<DeviceId, TraceTime> lastOfDevice;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            if (const auto last = lastEnd(trace, track.id)) {
                const auto [known, isNew] = lastOfDevice.try_emplace(track.device, *last);
                known->second = std::max(known->second, *last);
            }
    if (lastOfDevice.empty())
        return {};
    const auto first = std::min_element(lastOfDevice.begin(), lastOfDevice.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const double ns = static_cast<double>(toNs(trace.range().end)) - static_cast<double>(toNs(first->second));
    return message<"trace.device_loss",
                   "GPU work is recorded only until {time} before the last event; the driver had not yet delivered "
                   "the records of later work">({{"time", ns / 1e3, timeText(ns / 1e3)}});
}

struct TailingReader::State {
    State(InputFile file, const TraceHeader& read)
        : header(read), path(file.path()), scanner(std::move(file), read.headerBytes), decoder(builder)
    {
        builder.setFormat("stepscope");
    }

    Result<bool> advance(std::uint64_t bytes, bool last);
    void takeFrame(const Scanned& frame);
    void takeRecoveredEvents();
    void note(Message text);
    CaptureStats stats() const;
    std::shared_ptr<const Trace> preview(); ///< What was read so far, as a trace that is not live.
    /// True if a writer holds the lock on the file. False if unknown, because the file system has no locks.
    bool writerLives() const;

    TraceHeader header;
    std::filesystem::path path;
    FrameScanner scanner;
    TraceBuilder builder;
    FrameDecoder decoder;
    std::uint32_t nextSequence = 0;
    bool afterDamage = false; ///< the next gap in the sequence is already reported as damage
    bool ended = false, cut = false;
    std::vector<Message> notes;
    std::size_t moreNotes = 0;
    std::shared_ptr<const Trace> latest; ///< empty if something new was read since
};

/// Reads frames until about `bytes` were read. Returns false if there was nothing to read.
Result<bool> TailingReader::State::advance(std::uint64_t bytes, bool last)
{
    const std::uint64_t until = scanner.offset() + std::min(bytes, scanner.size() - scanner.offset());
    bool any = false;
    while (!ended && scanner.offset() < until) {
        const auto scanned = scanner.next(last);
        if (!scanned)
            return tl::unexpected(scanned.error());
        if (scanned->what == Scanned::What::Nothing)
            break;
        any = true;
        latest.reset();
        if (scanned->what == Scanned::What::Frame) {
            takeFrame(*scanned);
        } else {
            const bool tail = scanned->offset + scanned->bytes == scanner.size();
            const MessageParameter size{"bytes", scanned->bytes, countText(scanned->bytes)};
            const MessageParameter place{"byte", scanned->offset};
            note(tail
                     ? message<"trace.cut_frame", "the last {bytes} bytes, from byte {byte}, are not a complete frame">(
                           {size, place})
                     : message<"trace.damaged", "{bytes} damaged bytes at byte {byte} were skipped">({size, place}));
            afterDamage = true;
        }
    }
    return any;
}

void TailingReader::State::takeFrame(const Scanned& frame)
{
    const std::uint32_t sequence = frame.header.sequence;
    if (sequence < nextSequence) {
        note(message<"trace.frame_twice", "the frame at byte {byte} is a duplicate and was skipped">(
            {{"byte", frame.offset}}));
        return;
    }
    if (sequence > nextSequence && !afterDamage)
        note(message<"trace.frames_missing", "{count} frames before byte {byte} are missing">(
            {{"count", sequence - nextSequence, countText(sequence - nextSequence)}, {"byte", frame.offset}}));
    afterDamage = false;
    nextSequence = sequence + 1;
    if (const std::string fault = decoder.take(frame.header.type, frame.payload); !fault.empty())
        note(message<"trace.frame_in_part", "the frame at byte {byte} was only partly read: {why}">(
            {{"byte", frame.offset}, {"why", fault}}));
    ended = frame.header.type == FrameType::End;
}

void TailingReader::State::takeRecoveredEvents()
{
    const auto recovered = recoverRing(path, header.runId);
    if (!recovered) {
        note(message<"trace.last_moments_missing", "the last events before the run stopped are missing: {why}">(
            {{"why", recovered.error().message()}, {"error", recovered.error().what.id}}));
        return;
    }
    const std::size_t events = decoder.takeRecoveredEvents(*recovered);
    note(message<"trace.last_moments",
                 "{count} of the last events before the run stopped were recovered from {file}{all}">(
        {{"count", events, countText(events)},
         {"file", ringPath(path).filename().string()},
         {"all", recovered->damaged == 0 ? "; no completed event is missing" : ""}}));
    if (Message lost = deviceLoss(*builder.snapshot()); !lost.empty())
        note(std::move(lost));
    if (recovered->damaged > 0)
        note(message<"trace.ring_in_part", "{count} lists of the ring file could only be partly read">(
            {{"count", recovered->damaged, countText(recovered->damaged)}}));
}

void TailingReader::State::note(Message text)
{
    if (notes.size() < kMaxNotes)
        notes.push_back(std::move(text));
    else
        ++moreNotes;
}

std::shared_ptr<const Trace> TailingReader::State::preview()
{
    builder.captureStats() = stats();
    builder.captureStats().live = false; // a preview is not live
    return builder.snapshot();
}

CaptureStats TailingReader::State::stats() const
{
    CaptureStats stats;
    stats.dropped = decoder.loss().dropped + decoder.missingEvents();
    stats.unmatched = decoder.loss().unmatched + decoder.oddRecords();
    stats.cut = cut;
    stats.live = !ended && !cut;
    stats.notes = decoder.notes();
    stats.notes.insert(stats.notes.end(), notes.begin(), notes.end());
    if (moreNotes > 0)
        stats.notes.push_back(message<"trace.many_more_notes", "and {count} more notes like these">(
            {{"count", moreNotes, countText(moreNotes)}}));
    if (decoder.missingEvents() > 0)
        stats.notes.push_back(
            message<"trace.missing_events", "{count} events of CPU threads are missing from the file">(
                {{"count", decoder.missingEvents(), countText(decoder.missingEvents())}}));
    if (decoder.oddRecords() > 0)
        stats.notes.push_back(message<"trace.odd_records", "{count} records contain contradictory values">(
            {{"count", decoder.oddRecords(), countText(decoder.oddRecords())}}));
    return stats;
}

bool TailingReader::State::writerLives() const
{
    return scanner.file().lockHolder() == os::LockHolder::Somebody;
}

TailingReader::TailingReader() = default;
TailingReader::~TailingReader() = default;

Result<std::unique_ptr<TailingReader>> TailingReader::open(const std::filesystem::path& path)
{
    auto file = InputFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    const auto header = readHeader(*file);
    if (!header)
        return tl::unexpected(header.error());
    std::shared_ptr<const Trace> sealed;
    if (header->isSealed) {
        auto read = readTrace(path);
        if (!read)
            return tl::unexpected(read.error());
        sealed = std::move(*read);
    }
    std::unique_ptr<TailingReader> reader{new TailingReader};
    reader->m = std::make_unique<State>(std::move(*file), *header);
    reader->m->ended = header->isSealed;
    reader->m->latest = std::move(sealed);
    return reader;
}

Result<bool> TailingReader::poll()
{
    if (m->ended || m->cut)
        return false;
    if (const auto fresh = m->scanner.refresh(); !fresh)
        return tl::unexpected(fresh.error());
    return m->advance(m->scanner.size(), false);
}

bool TailingReader::ended() const
{
    return m->ended;
}

std::shared_ptr<const Trace> TailingReader::snapshot()
{
    if (m->latest)
        return m->latest;
    m->builder.captureStats() = m->stats();
    m->latest = m->ended || m->cut ? m->builder.finish() : m->builder.snapshot();
    return m->latest;
}

void TailingReader::closeAsCut()
{
    if (m->ended || m->cut)
        return;
    m->latest.reset();
    m->note(m->scanner.file().lockHolder() == os::LockHolder::Unknown
                ? message<"trace.no_end_no_locks",
                          "the trace is not finished; its file system does not support file locks, so the program "
                          "may still be writing it">()
                : message<"trace.cut_off", "the trace is not finished, because the run stopped abruptly">());
    auto taken = m->scanner.refresh().and_then([this] { return m->advance(m->scanner.size(), true); });
    if (!taken)
        m->note(message<"trace.rest_not_read", "the rest of the file was not read: {why}">(
            {{"why", taken.error().message()}, {"error", taken.error().what.id}}));
    m->cut = !m->ended; // the end may have arrived since the last poll
    if (m->cut)
        m->takeRecoveredEvents();
}

Result<std::shared_ptr<const Trace>> readSealedOnDemand(InputFile file, const std::stop_token& stop)
{
    const auto header = readHeader(file);
    if (!header)
        return tl::unexpected(header.error());
    if (!header->isSealed || header->overviewOffset == 0)
        return fail<"trace.not_sealed", "the trace is not sealed, so its parts cannot be read on demand">(
            Error::Code::Invalid, file.path().string(), "convert it to a .sstrace first");
    ReadOptions options;
    options.stop = stop;
    options.onDemand = true;
    return readBlocks(std::move(file), *header, options);
}

Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path, const ReadOptions& options)
{
    auto nextPreview = std::chrono::steady_clock::now() + options.previewAfter;
    auto file = InputFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    const auto header = readHeader(*file);
    if (!header)
        return tl::unexpected(header.error());
    if (header->isSealed)
        return readBlocks(std::move(*file), *header, options);
    TailingReader reader;
    reader.m = std::make_unique<TailingReader::State>(std::move(*file), *header);
    auto& state = *reader.m;
    if (const auto fresh = state.scanner.refresh(); !fresh)
        return tl::unexpected(fresh.error());
    const auto size = static_cast<double>(std::max<std::uint64_t>(state.scanner.size(), 1));
    for (bool more = true; more;) {
        if (options.stop.stop_requested())
            return fail<"open.trace_cancelled", "opening the trace was cancelled">(Error::Code::Cancelled,
                                                                                   path.string());
        const auto taken = state.advance(kBytesBetweenProgress, false);
        if (!taken)
            return tl::unexpected(taken.error());
        more = *taken;
        if (options.progress)
            options.progress(std::min(static_cast<double>(state.scanner.offset()) / size, 1.0));
        if (options.preview && more && std::chrono::steady_clock::now() >= nextPreview) {
            if (auto trace = state.preview(); trace->sliceCount() > 0)
                options.preview(std::move(trace));
            nextPreview = std::chrono::steady_clock::now() + 4 * options.previewAfter;
        }
    }
    if (!state.ended && !state.writerLives())
        reader.closeAsCut();
    auto trace = reader.snapshot();
    if (options.progress)
        options.progress(1);
    return trace;
}

} // namespace profiler::container
