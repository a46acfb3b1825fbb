#include "profiler/formats/pytorch/read_json.h"

#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/pytorch/array_scan.h"
#include "profiler/formats/pytorch/assemble.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/json_values.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

namespace profiler::formats::json {

namespace {

constexpr std::size_t kLongestValue = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The outermost value of a trace: an object around the event array, or the array alone.
class TopLevel {
public:
    explicit TopLevel(ByteSource& source) : m_window(source) {}

    /// Reads on to the next event array and returns the position after its bracket. Empty at the end of the text or
    /// after an error, which problem() describes. If there is a syntax error before the events, they are searched for
    /// by their key.
    std::optional<std::uint64_t> nextArray()
    {
        m_window.moveTo(m_offset);
        m_window.readOn(m_window.begin());
        const char* cursor = m_window.begin();
        for (;;) {
            switch (step(cursor)) {
            case Outcome::Advanced:
                break;
            case Outcome::Array:
                m_anyArray = true;
                return m_window.offsetOf(cursor);
            case Outcome::Done:
                return std::nullopt;
            case Outcome::TooShort: {
                const bool more = m_window.readOn(cursor);
                cursor = m_window.begin();
                if (more)
                    break;
                if (m_window.atEnd() || !passLongEntry(cursor))
                    // An object that contains the events may be closed at the wrong place, so the whole text is
                    // searched.
                    return searchOn(m_anyArray ? m_window.offsetOf(cursor) : 0,
                                    message<"json.ends_early", "The file ends too early, at byte {byte}.">(
                                        {{"byte", m_window.offsetOf(m_window.end())}}),
                                    message<"json.not_closed",
                                            "An object or array before the events is not closed. The data between it "
                                            "and the events was not read.">());
                break;
            }
            case Outcome::Wrong: {
                const MessageParameter place{"byte", m_window.offsetOf(m_wrong)};
                if (m_tooDeep)
                    return searchOn(
                        m_window.offsetOf(cursor),
                        message<"json.too_deep", "The value at byte {byte} is nested deeper than 1,000,000 levels.">(
                            {place}),
                        message<"json.too_deep_ahead",
                                "The value at byte {byte}, before the events, is nested deeper than 1,000,000 levels. "
                                "The data between it and the events was not read.">({place}));
                return searchOn(
                    m_window.offsetOf(cursor),
                    message<"json.grammar", "There is a JSON syntax error at byte {byte}.">({place}),
                    message<"json.grammar_ahead",
                            "There is a JSON syntax error at byte {byte}, before the events. The data between it and "
                            "the events was not read.">({place}));
            }
            case Outcome::Rest: {
                const MessageParameter place{"byte", m_window.offsetOf(m_wrong)};
                return searchOn(
                    m_window.offsetOf(cursor),
                    message<"json.rest", "The trace is followed by other data at byte {byte}, which was not read.">(
                        {place}),
                    message<"json.rest_ahead",
                            "The outermost object ends before byte {byte}, before the events. The data between its end "
                            "and the events was not read.">({place}));
            }
            }
        }
    }

    /// Called at the end of the event array; `offset` is after its bracket.
    void resume(std::uint64_t offset) { m_offset = offset; }

    /// Raw JSON of the other values by key. Values longer than 1 MiB are omitted, with a note.
    TopLevelValues values;
    /// A sentence about each omitted value.
    std::vector<Message> notes;
    /// A sentence about what prevents the rest from being read; empty if there is no problem.
    [[nodiscard]] const Message& problem() const { return m_problem; }

private:
    enum class At : std::uint8_t { Begin, ObjectBegin, InObject, InArray, End };
    enum class Outcome : std::uint8_t { Advanced, Array, Done, TooShort, Wrong, Rest };

    Outcome step(const char*& cursor)
    {
        const char* p = cursor;
        if (m_at == At::Begin && m_window.offsetOf(p) == 0 && std::string_view(p, 3) == kByteOrderMark)
            p += kByteOrderMark.size();
        p = skipSpace(p);
        if (p >= m_window.end() && !m_window.atEnd())
            return Outcome::TooShort;
        switch (m_at) {
        case At::Begin:
            if (*p == '[' || *p == '{') {
                m_at = *p == '[' ? At::InArray : At::ObjectBegin;
                cursor = p + 1;
                return *p == '[' ? Outcome::Array : Outcome::Advanced;
            }
            break;
        case At::ObjectBegin:
        case At::InObject:
            if (*p == '}') {
                m_at = At::End;
                cursor = p + 1;
                return Outcome::Advanced;
            }
            cursor = p;
            return entry(cursor);
        case At::InArray:
        case At::End:
            m_wrong = p;
            return p < m_window.end() ? Outcome::Rest : Outcome::Done;
        }
        m_wrong = p;
        return p >= m_window.end() ? Outcome::TooShort : Outcome::Wrong;
    }

    Outcome entry(const char*& cursor)
    {
        Values reader;
        reader.end = m_window.end();
        const auto failed = [&] {
            m_wrong = reader.problem;
            m_tooDeep = reader.tooDeep;
            return m_wrong >= m_window.end() ? Outcome::TooShort : Outcome::Wrong;
        };
        m_value = nullptr;
        const char* p = cursor;
        if (m_at == At::InObject)
            p = *p == ',' ? skipSpace(p + 1) : reader.fail(p);
        std::string_view key;
        p = p ? reader.key(p, key) : nullptr;
        if (!p)
            return failed();
        m_key = unescaped(key);
        if (m_key == "traceEvents" && *p == '[') {
            m_at = At::InObject;
            cursor = p + 1;
            return Outcome::Array;
        }
        m_value = p;
        const char* after = reader.any(p);
        if (!after)
            return failed();
        if (static_cast<std::size_t>(after - p) <= kLongestValue)
            values.insert_or_assign(m_key, std::string(p, after));
        else
            noteLong(m_key, m_window.offsetOf(p));
        m_at = At::InObject;
        cursor = after;
        return Outcome::Advanced;
    }

    /// Skips the value of an entry that is too long to hold in memory. False if the text ends inside it.
    bool passLongEntry(const char*& cursor)
    {
        entry(cursor); // parse the entry again: it ends inside the value, at its new position in the window
        if (!m_value)
            return false;
        noteLong(m_key, m_window.offsetOf(m_value));
        cursor = m_value;
        m_at = At::InObject;
        return skipLongValue(m_window, cursor);
    }

    void noteLong(std::string_view key, std::uint64_t offset)
    {
        constexpr std::size_t kMostNotes = 20;
        if (notes.size() < kMostNotes)
            notes.push_back(message<"json.long_value",
                                    "The value of \"{key}\" at byte {byte} is longer than 1 MiB and was not read.">(
                {{"key", key.substr(0, 64)}, {"byte", offset}}));
    }

    /// The text after `from` cannot be parsed. Continues with the events after it if none were found so far.
    /// @param atEnd   the problem if there are no more events
    /// @param before  the problem if events follow
    std::optional<std::uint64_t> searchOn(std::uint64_t from, Message atEnd, Message before)
    {
        if (m_anyArray && m_problem.empty()) {
            m_problem = std::move(atEnd);
            return std::nullopt;
        }
        const auto found = findEvents(from);
        if (m_problem.empty())
            m_problem = std::move(found ? before : atEnd);
        m_anyArray = m_anyArray || found.has_value();
        m_at = At::InObject;
        return found;
    }

    /// Finds the next key of events whose value is an array of objects; returns the position after its bracket.
    std::optional<std::uint64_t> findEvents(std::uint64_t from)
    {
        constexpr std::string_view kKey = "\"traceEvents\"";
        std::optional<std::uint64_t> events;
        // Quotes inside a text are escaped, so the key cannot be part of a text. Outside of texts it need not be a key.
        findText(m_window, kKey, from, std::numeric_limits<std::uint64_t>::max(), [&](const char* key) {
            const char* value = skipSpace(key + kKey.size());
            value = *value == ':' ? skipSpace(value + 1) : value;
            const char* first = *value == '[' ? skipSpace(value + 1) : nullptr;
            if (first && (*first == '{' || *first == ']' || first >= m_window.end()))
                events = m_window.offsetOf(value + 1);
            return events.has_value();
        });
        return events;
    }

    TextWindow m_window;
    At m_at = At::Begin;
    std::uint64_t m_offset = 0;    ///< the next byte to parse
    const char* m_wrong = nullptr; ///< Outcome::Wrong, Rest: the position
    bool m_tooDeep = false;        ///< the value at that position is nested too deeply
    std::string m_key;             ///< key of the current entry
    const char* m_value = nullptr; ///< value of the current entry; null: not yet reached
    bool m_anyArray = false;       ///< an event array was found
    Message m_problem;
};

/// Adds the entries of a valid object.
void addEntries(std::string_view object, Values& reader, SliceDetails& details, bool outermost)
{
    forEachEntry(object, reader, [&](std::string_view rawKey, std::string_view value) {
        std::string key = unescaped(rawKey);
        if (outermost && key == "args" && value.front() == '{')
            addEntries(value, reader, details, false);
        else
            details.emplace_back(std::move(key), value.front() == '[' ? plainArray(value) : plainValue(value));
    });
}

/// Approximate bytes of memory.
std::size_t sizeOf(const SliceDetails& details)
{
    std::size_t size = 0;
    for (const auto& entry : details)
        size += sizeof entry + entry.first.size() + entry.second.size();
    return size;
}

/// Reads all fields of the event whose brace is at a byte of the text: first the fields of the event itself, then its
/// args. Texts are unquoted; everything else is returned as JSON.
class EventDetails final : public ArgSource {
public:
    explicit EventDetails(std::shared_ptr<ByteSource> source) : m_source(std::move(source)) {}

    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        if (!m_source->unchanged())
            return tl::unexpected(changed(source));
        TextWindow window(*m_source);
        return readAt(window, source);
    }

    void readMany(std::span<const std::uint64_t> sources,
                  const std::function<bool(Result<SliceDetails>)>& take) const override
    {
        const bool unchanged = m_source->unchanged();
        TextWindow window(*m_source);
        const auto readOne = [&](std::uint64_t source) -> Result<SliceDetails> {
            return unchanged ? readAt(window, source) : tl::unexpected(changed(source));
        };
        // Neighbours on a track are near each other in the file, but not in order. Reads them in file order and
        // delivers them in the requested order. Those that would take too much memory are read when they are delivered.
        for (; !sources.empty(); sources = sources.subspan(std::min(kMostTogether, sources.size()))) {
            const auto some = sources.first(std::min(kMostTogether, sources.size()));
            std::vector<std::uint32_t> order(some.size());
            std::iota(order.begin(), order.end(), 0U);
            std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return some[a] < some[b]; });
            std::vector<std::optional<Result<SliceDetails>>> read(some.size());
            std::size_t held = 0;
            for (auto next = order.begin(); next != order.end() && held <= kMostHeld; ++next) {
                read[*next] = readOne(some[*next]);
                held += *read[*next] ? sizeOf(**read[*next]) : 0;
            }
            for (std::size_t i = 0; i < some.size(); ++i)
                if (!take(read[i] ? std::move(*read[i]) : readOne(some[i])))
                    return;
        }
    }

private:
    static constexpr std::size_t kMostTogether = 4096;              ///< events that are read in file order at a time
    static constexpr std::size_t kMostHeld = std::size_t{16} << 20; ///< limit of their details in bytes

    [[nodiscard]] std::string placeOf(std::uint64_t source) const
    {
        return m_source->path().string() + ", byte " + std::to_string(source);
    }
    [[nodiscard]] Error changed(std::uint64_t source) const
    {
        return makeError<"file.changed", "the file has changed since it was opened">(
            Error::Code::Invalid, placeOf(source), "open the file again");
    }

    /// Reads the event from the window if the window contains it completely.
    [[nodiscard]] Result<SliceDetails> readAt(TextWindow& window, std::uint64_t source) const
    {
        Values reader;
        bool fresh = false;
        for (;;) {
            const char* event = window.placeOf(source);
            reader.end = window.end();
            if (event != window.end() && *event != '{')
                break;
            if (const char* after = event == window.end() ? nullptr : reader.any(event)) {
                SliceDetails details;
                addEntries({event, static_cast<std::size_t>(after - event)}, reader, details, true);
                return details;
            }
            if (event != window.end() && reader.problem < window.end())
                break;
            if (!fresh)
                window.moveTo(source);
            fresh = true;
            if (!window.readOn(window.begin()))
                break;
        }
        return fail<"json.event_gone", "the event can no longer be read from the file">(
            Error::Code::Malformed, placeOf(source), "open the file again");
    }

    std::shared_ptr<ByteSource> m_source;
};

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

    /// Called after each committed part.
    void show(SharedBuild& shared, Assembly& assembly)
    {
        if (!m_options.preview || m_room == 0 || Clock::now() < m_next)
            return;
        const std::uint64_t taken = shared.builder.sealPreview();
        m_room -= std::min(m_room, taken);
        std::shared_ptr<const Trace> trace;
        shared.undisturbed([&] {
            Losses discarded; // losses are reported at the end
            assembly.nameTracks(discarded);
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
          m_top(*m_source), m_assembly(m_shared, m_passOptions.gathered)
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
                    m_assembly.add(std::move(part));
                    if (first)
                        m_preview.show(m_shared, m_assembly);
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
        const ScanResult& whole = m_assembly.whole();
        if (!any || (whole.events == 0 && whole.losses.unreadable() > 0))
            return tl::unexpected(noEvents(any));
        return {};
    }

    /// How the file must be read again; empty if it need not be. A second pass is needed if a notable share of device
    /// work has no correlation ids and the file has launch flows instead, or if range ends are out of order.
    [[nodiscard]] std::optional<PassOptions> secondPassOptions() const
    {
        const ScanResult& whole = m_assembly.whole();
        const bool uncorrelated = whole.uncorrelated > 0 && whole.uncorrelated >= whole.deviceWork / kNotable;
        PassOptions passOptions{.keepLaunchFlows = uncorrelated && whole.launchFlows > 0, .gathered = {}};
        if (!m_assembly.unordered().empty())
            passOptions.gathered = std::make_shared<const RangeKeys>(m_assembly.unordered());
        return passOptions.keepLaunchFlows || passOptions.gathered ? std::optional(std::move(passOptions))
                                                                   : std::nullopt;
    }

    /// Builds the trace from what scan() read.
    Result<std::shared_ptr<const Trace>> finish()
    {
        m_assembly.finish(m_top.values);
        const unsigned threads =
            std::max(m_options.threads != 0 ? m_options.threads : std::thread::hardware_concurrency(), 1U);
        m_shared.builder.seal(threads, m_options.stop);
        m_assembly.countOverlaps();
        CaptureStats& stats = m_shared.builder.captureStats();
        m_assembly.whole().losses.report(stats);
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
        m_shared.builder.setArgSource(std::make_shared<EventDetails>(m_source));
        auto trace = m_shared.builder.finish(threads, m_options.stop);
        if (!trace)
            return tl::unexpected(cancelled());
        if (m_options.progress)
            m_options.progress(1);
        return trace;
    }

private:
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
        m_assembly.whole().losses.report(losses);
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

    static constexpr std::uint64_t kNotable = 20; ///< one affected item in this many justifies a second pass

    std::shared_ptr<ByteSource> m_source;
    const ReadOptions& m_options;
    PassOptions m_passOptions;
    LoadingPreview m_preview;
    TopLevel m_top;
    SharedBuild m_shared;
    Assembly m_assembly;
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
