#include "profiler/formats/container/tailing_reader.h"

#include "profiler/formats/container/frame_decoder.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/model/number_text.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace profiler::container {

namespace {

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

namespace {

constexpr std::size_t kMaxNotes = 20;
constexpr std::uint64_t kBytesBetweenProgress = 4U << 20;

} // namespace

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
