#include "profiler/formats/pytorch/read_json.h"
#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/pytorch/array_scan.h"
#include "profiler/formats/pytorch/assemble.h"
#include "profiler/formats/pytorch/counters.h"
#include "profiler/formats/pytorch/event_details.h"
#include "profiler/formats/pytorch/ranges.h"
#include "profiler/formats/pytorch/top_level.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace profiler::formats::json {

namespace {

/// Shows the rows that were read so far while the rest of a long file is being read: first after
/// ReadOptions::previewAfter, then at intervals four times as long. Does nothing without ReadOptions::preview. Used by
/// the committing thread only.
class LoadingPreview {
public:
    explicit LoadingPreview(const ReadOptions& options)
        : m_options(options), m_next(Clock::now() + options.previewAfter),
          m_room((options.memoryBudget > 0 ? options.memoryBudget : container::shareOfMemory()) / kShare)
    {
    }

    /// Called after each committed part; `whole` is everything committed so far.
    void show(SharedBuild& shared, const ScanResult& whole)
    {
        if (!m_options.preview || m_room == 0 || Clock::now() < m_next)
            return;
        const std::uint64_t taken = shared.builder.sealPreview();
        m_room -= std::min(m_room, taken);
        std::shared_ptr<const Trace> trace;
        shared.undisturbed([&] {
            Losses discarded; // losses are reported at the end
            assembleRows(shared, whole, discarded);
            trace = shared.builder.snapshot();
        });
        if (trace->sliceCount() > 0)
            m_options.preview(std::move(trace));
        m_next = Clock::now() + kLater * m_options.previewAfter;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kLater = 4;           ///< later waits are this many times the first one
    static constexpr std::uint64_t kShare = 8; ///< previews may take this fraction (1/n) of the memory for columns

    const ReadOptions& m_options;
    Clock::time_point m_next;
    std::uint64_t m_room; ///< bytes of memory that previews may still take
};

/// One pass over a file.
class Reading {
public:
    Reading(std::shared_ptr<ByteSource> source, const ReadOptions& options, PassOptions passOptions)
        : m_source(std::move(source)), m_options(options), m_passOptions(std::move(passOptions)), m_preview(options),
          m_top(*m_source), m_ranges(m_passOptions.gathered)
    {
        m_shared.builder.setFormat("pytorch-json");
        container::spillBeyond(m_shared.builder, options.memoryBudget);
    }

    /// Reads the events.
    /// @param first  first pass; previews are shown during it
    Result<void> scan(bool first)
    {
        bool any = false;
        for (auto array = m_top.nextArray(); array; array = m_top.nextArray()) {
            any = true;
            const ArrayEnd end =
                scanArray(*m_source, m_shared, *array, m_passOptions, m_options, [&](ScanResult&& part) {
                    commit(std::move(part));
                    if (first)
                        m_preview.show(m_shared, m_whole);
                });
            if (m_options.stop.stop_requested())
                return tl::unexpected(cancelled());
            if (!end.isClosed) {
                noteOpenEnd(end);
                break;
            }
            m_top.resume(end.offset);
        }
        if (m_options.stop.stop_requested())
            return tl::unexpected(cancelled());
        if (!any || (m_whole.events == 0 && m_whole.losses.unreadable() > 0))
            return tl::unexpected(noEvents(any));
        return {};
    }

    /// How the file must be read again; empty if it need not be. A second pass is needed if a notable share of device
    /// work has no correlation ids and the file has launch flows instead, or if range ends are out of order.
    [[nodiscard]] std::optional<PassOptions> secondPassOptions() const
    {
        const bool uncorrelated = m_whole.uncorrelated > 0 && m_whole.uncorrelated >= m_whole.deviceWork / kNotable;
        PassOptions passOptions{.keepLaunchFlows = uncorrelated && m_whole.launchFlows > 0, .gathered = {}};
        if (!m_ranges.unordered().empty())
            passOptions.gathered = std::make_shared<const RangeKeys>(m_ranges.unordered());
        return passOptions.keepLaunchFlows || passOptions.gathered ? std::optional(std::move(passOptions))
                                                                   : std::nullopt;
    }

    /// Builds the trace from what scan() read.
    Result<std::shared_ptr<const Trace>> finish()
    {
        assemble();
        const unsigned threads = m_options.threads != 0 ? m_options.threads : std::thread::hardware_concurrency();
        m_shared.builder.seal(std::max(threads, 1U), m_options.stop);
        countOverlaps();
        CaptureStats& stats = m_shared.builder.captureStats();
        m_whole.losses.report(stats);
        stats.notes.insert(stats.notes.end(), m_top.notes.begin(), m_top.notes.end());
        if (!m_top.problem().empty())
            stats.notes.push_back(m_top.problem());
        if (const std::string damage = m_source->damage(); !damage.empty()) {
            stats.cut = true;
            stats.notes.push_back(
                message<"json.inflated_in_part", "Only part of the file could be decompressed: {why}.">(
                    {{"why", damage}}));
        }
        if (const std::uint64_t trailing = m_source->trailing(); trailing != 0)
            stats.notes.push_back(
                message<"json.trailing",
                        "The compressed trace is followed by other data at byte {byte} of the file, which was not "
                        "read.">({{"byte", trailing}}));
        dropDuplicateNotes(stats.notes);
        m_shared.builder.setArgSource(eventDetails(m_source));
        auto trace = m_shared.builder.finish(std::max(threads, 1U), m_options.stop);
        if (!trace)
            return tl::unexpected(cancelled());
        if (m_options.progress)
            m_options.progress(1);
        return trace;
    }

private:
    void commit(ScanResult&& part)
    {
        m_ranges.add(part);
        takeRows(part);
        m_counters.add(m_shared, part.samples);
        append(m_whole, std::move(part));
    }

    void takeRows(ScanResult& part)
    {
        m_launches.add(part);
        for (ScanResult::Rows& rows : part.rows)
            m_shared.addMany(rows.rowId, std::move(rows.slices));
        part.rows.clear();
    }

    /// Adds what is known only after the whole file was scanned.
    void assemble()
    {
        m_ranges.finish(m_whole);
        takeRows(m_whole);
        m_launches.report(m_shared.rowInfos, m_whole.losses);
        assembleFlows(m_shared, m_whole);
        const Processes processes = assembleRows(m_shared, m_whole, m_whole.losses);
        m_counters.finish(m_shared, processes, counterUnits(m_top.values));
        assembleMetadata(m_shared, m_whole, m_top.values);
    }

    void noteOpenEnd(const ArrayEnd& end)
    {
        CaptureStats& stats = m_shared.builder.captureStats();
        stats.cut = true;
        if (end.cutAt)
            stats.notes.push_back(
                message<"json.cut",
                        "The file ends in the middle of an event, which starts at byte {byte}. All earlier events "
                        "were read.">({{"byte", *end.cutAt}}));
        else if (end.brokenAt)
            stats.notes.push_back(
                message<"json.broken",
                        "No event was found after the damaged one at byte {byte}. The rest of the file was not "
                        "read.">({{"byte", *end.brokenAt}}));
        else
            stats.notes.push_back(
                message<"json.array_open",
                        "The file ends at byte {byte} without closing the event array. All its events were read.">(
                    {{"byte", end.offset}}));
        stats.dropped += end.cutAt.has_value();
    }

    [[nodiscard]] Error cancelled() const
    {
        return makeError<"open.cancelled", "opening the file was cancelled">(Error::Code::Cancelled,
                                                                             m_source->path().string());
    }

    [[nodiscard]] Error noEvents(bool anyArray) const
    {
        std::string why, reason;
        CaptureStats losses;
        m_whole.losses.report(losses);
        if (!losses.notes.empty()) {
            why = ":";
            for (const Message& note : losses.notes)
                why += " " + note.text;
            reason = losses.notes.front().id;
        } else if (const std::string damage = m_source->damage(); !damage.empty()) {
            why = "; " + damage;
            reason = "file.compression";
        } else if (!m_top.problem().empty()) {
            why = ": " + m_top.problem().text;
            reason = m_top.problem().id;
        }
        return {Error::Code::Malformed,
                anyArray ? message<"json.no_event", "the JSON file contains no readable event{why}">(
                               {{"why", why}, {"reason", reason}})
                         : message<"json.no_array", "the JSON file contains no array of trace events{why}">(
                               {{"why", why}, {"reason", reason}}),
                m_source->path().string(),
                "choose a file written by torch.profiler's export_chrome_trace, or a trace in Chrome's format"};
    }

    /// Rows with host ranges or waits may contain overlapping slices; rows of threads and streams must not.
    void countOverlaps()
    {
        for (const RowInfo& row : m_shared.rowInfos) {
            const bool nests =
                row.key.kind == RowKind::Device || (row.key.kind == RowKind::Host && row.key.category == 0);
            if (!row.track || !nests)
                continue;
            const Overlaps overlaps = m_shared.builder.overlaps(*row.track);
            m_whole.losses.add(Loss::Overlapping, overlaps.first, overlaps.count);
        }
    }

    static constexpr std::uint64_t kNotable = 20; ///< one affected item in this many justifies a second pass

    std::shared_ptr<ByteSource> m_source;
    const ReadOptions& m_options;
    PassOptions m_passOptions;
    LoadingPreview m_preview;
    TopLevel m_top;
    RangeJoining m_ranges;
    CounterSeries m_counters;
    SharedBuild m_shared;
    ScanResult m_whole;
    LaunchCheck m_launches;
};

} // namespace

Result<std::shared_ptr<const Trace>> readJson(const std::filesystem::path& path, const ReadOptions& options)
{
    auto source = ByteSource::open(path, options.stop);
    if (!source)
        return tl::unexpected(source.error());
    std::optional<PassOptions> passOptions;
    { // frees the memory of the first pass before the second one
        Reading reading(*source, options, {});
        if (auto read = reading.scan(true); !read)
            return tl::unexpected(read.error());
        passOptions = reading.secondPassOptions();
        if (!passOptions)
            return reading.finish();
    }
    Reading reading(*source, options, *passOptions);
    if (auto read = reading.scan(false); !read)
        return tl::unexpected(read.error());
    return reading.finish();
}

} // namespace profiler::formats::json
