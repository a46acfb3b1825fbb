#include "profiler/formats/pytorch/array_scan.h"
#include "profiler/formats/pytorch/event_parser.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace profiler::formats::json {

namespace {

/// Limits the nesting that is followed. If every event lacks its end, each event seems to contain all later ones, and
/// scanning all of them for each event would take quadratic time.
constexpr std::size_t kDeepestBroken = 1024;

/// True if the brace is followed by a key that events start with.
bool looksLikeEvent(const char* brace, const char* end)
{
    constexpr std::array<std::string_view, 16> kKeys = {"ph\"",  "name\"", "cat\"",   "pid\"", "tid\"", "ts\"",
                                                        "dur\"", "args\"", "id\"",    "s\"",   "bp\"",  "tts\"",
                                                        "id2\"", "tdur\"", "cname\"", "sf\""};
    std::string_view text(brace, std::min(kLook, static_cast<std::size_t>(end - brace)));
    const std::size_t quote = text.find_first_not_of(" \n\r\t", 1);
    if (quote == text.npos || text[quote] != '"')
        return false;
    text.remove_prefix(quote + 1);
    return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) { return text.starts_with(key); });
}

/// True if the text before a brace can precede an event: a comma and, if `sound`, the brace of an intact event before
/// it.
bool followsEvent(const char* begin, const char* brace, bool sound)
{
    std::string_view before(begin, static_cast<std::size_t>(brace - begin));
    before.remove_prefix(before.size() - std::min(before.size(), kLook));
    const auto takeLast = [&](char c) {
        while (!before.empty() && isSpace(before.back()))
            before.remove_suffix(1);
        const bool found = before.ends_with(c);
        before.remove_suffix(found);
        return found;
    };
    return takeLast(',') && (!sound || takeLast('}'));
}

bool endsEvent(const char* after, const char* end)
{
    const char* p = skipSpace(after);
    if (*p == ',')
        p = skipSpace(p + 1);
    return p >= end || *p == '{' || *p == ']';
}

/// Number of bytes of a malformed event that are searched for its closing bracket.
constexpr std::size_t kLongestBroken = std::size_t{256} << 10;

/// Finds the end of an event with a syntax error by its brackets. The next event, the array's bracket or nothing must
/// follow. Null if the brackets do not match or a text is not closed.
/// @param event  the event's brace
/// @param end    the end of the window, which is followed by zeros
const char* endOfBrokenEvent(const char* event, const char* end)
{
    std::string closers;
    char before = ':'; // the last character outside of texts
    for (const char* p = event; p < end; ++p) {
        const char c = *p;
        switch (c) {
        case '"':
            for (++p; p < end && *p != '"'; ++p) {
                p += *p == '\\';
                // An event inside a text: an earlier quote is missing or superfluous.
                if (p >= end || *p == '\n' || (*p == '{' && looksLikeEvent(p, end) && followsEvent(event, p, true)))
                    return nullptr;
            }
            break;
        case '{':
        case '[':
            if (!closers.empty() && closers.back() == '}' && before != ':')
                return nullptr; // objects contain keys, so another event starts where this one should have ended
            if (closers.size() == kDeepestBroken)
                return nullptr;
            closers += c == '{' ? '}' : ']';
            break;
        case '}':
        case ']':
            if (closers.back() != c)
                return nullptr;
            closers.pop_back();
            if (closers.empty())
                return endsEvent(p + 1, end) ? p + 1 : nullptr;
            break;
        default:
            break;
        }
        if (!isSpace(c))
            before = c;
    }
    return nullptr;
}

constexpr std::uint64_t kNoEvent = std::numeric_limits<std::uint64_t>::max();

/// The result of scanning a part of the event array.
struct ScannedPart {
    std::uint64_t begin = kNoEvent; ///< where the scan started: an event's brace
    bool reachedLimit = false;      ///< the array continues in the next part; `end` is at the next event's brace
    ArrayEnd end;
    ScanResult result;
};

/// Scans parts of an event array. Each thread has its own instance.
class ChunkScan {
public:
    ChunkScan(ByteSource& source, SharedBuild& shared, const PassOptions& passOptions)
        : m_window(source), m_sink(shared, passOptions), m_parser(m_sink)
    {
    }

    /// Scans the events that start in [begin, limit).
    /// @param begin  an event's brace, or the position after the array's opening bracket
    ScannedPart scan(std::uint64_t begin, std::uint64_t limit, const std::stop_token& stop)
    {
        ScannedPart part;
        part.begin = begin;
        m_sink.begin(part.result);
        m_window.moveTo(begin);
        Losses& losses = part.result.losses;
        const char* cursor = m_window.begin();
        m_window.readOn(cursor);
        const auto ended = [&] {
            part.end.offset = m_window.offsetOf(cursor);
            m_sink.end();
            return std::move(part);
        };
        cursor = m_window.begin();
        while (!stop.stop_requested()) {
            Window window{cursor, m_window.end(), m_window.placeOf(limit)};
            m_sink.setWindow(m_window.begin(), m_window.offset());
            const Stop why = m_parser.scan(window);
            cursor = window.cursor;
            switch (why) {
            case Stop::AtLimit:
            case Stop::ArrayEnd:
                part.reachedLimit = why == Stop::AtLimit;
                part.end.isClosed = why == Stop::ArrayEnd;
                return ended();
            case Stop::NeedsMore: {
                const bool more = m_window.readOn(cursor);
                cursor = m_window.begin();
                if (more)
                    break;
                if (m_window.atEnd()) {
                    const char* rest =
                        std::find_if_not(cursor, m_window.end(), [](char c) { return isSpace(c) || c == ','; });
                    if (rest < m_window.end())
                        part.end.cutAt = m_window.offsetOf(rest);
                    cursor = m_window.end();
                    return ended();
                }
                losses.add(Loss::TooLong, m_window.offsetOf(cursor));
                cursor = std::find(cursor, m_window.end(), '{');
                if (!skipLongValue(m_window, cursor, stop))
                    return ended();
                break;
            }
            case Stop::Malformed:
            case Stop::NoObject:
            case Stop::TooDeep:
                loadBrokenEvent(cursor);
                part.end.brokenAt = m_window.offsetOf(cursor);
                if (const char* after = why == Stop::NoObject ? endOfNonObject(cursor) : nullptr) {
                    losses.add(Loss::NoObject, *part.end.brokenAt);
                    cursor = after;
                    break;
                }
                losses.add(why == Stop::TooDeep ? Loss::TooDeep : Loss::Malformed, *part.end.brokenAt);
                if (!recover(cursor, stop))
                    return ended();
                part.end.brokenAt.reset();
            }
        }
        return ended();
    }

    /// Guesses the first position in [from, limit) that is the brace of an event; empty if nothing looks like one.
    /// @param sound  the event before it is intact
    std::optional<std::uint64_t> guessEvent(std::uint64_t from, std::uint64_t limit, bool sound,
                                            const std::stop_token& stop)
    {
        const auto isEvent = [&](const char* brace) {
            return looksLikeEvent(brace, m_window.end()) && followsEvent(m_window.begin(), brace, sound);
        };
        return findText(m_window, "{", from, limit, isEvent, stop);
    }

private:
    /// Reads on until enough of a malformed event is in memory, and moves the cursor to its first byte.
    void loadBrokenEvent(const char*& cursor)
    {
        while (static_cast<std::size_t>(m_window.end() - cursor) < kLongestBroken && !m_window.atEnd()) {
            const bool more = m_window.readOn(cursor);
            cursor = m_window.begin();
            if (!more)
                break;
        }
        cursor = skipSpace(cursor);
        cursor = *cursor == ',' ? skipSpace(cursor + 1) : cursor;
    }

    /// The position after a valid value that is not an object, if an array element may end there; otherwise null.
    const char* endOfNonObject(const char* cursor) const
    {
        Values values;
        values.end = m_window.end();
        const char* after = values.any(cursor);
        const char* next = after ? skipSpace(after) : nullptr;
        return next && (*next == ',' || *next == ']') ? after : nullptr;
    }

    /// Skips an event with a syntax error. False if no other event follows.
    bool recover(const char*& cursor, const std::stop_token& stop)
    {
        const auto held = static_cast<std::size_t>(m_window.end() - cursor);
        const char* after =
            *cursor == '{' ? endOfBrokenEvent(cursor, cursor + std::min(held, kLongestBroken)) : nullptr;
        if (after) {
            cursor = after;
            return true;
        }
        const auto next =
            guessEvent(m_window.offsetOf(cursor) + 1, std::numeric_limits<std::uint64_t>::max(), false, stop);
        cursor = next ? m_window.placeOf(*next) : m_window.end();
        return next.has_value();
    }

    TextWindow m_window;
    EventSink m_sink;
    EventParser m_parser;
};

constexpr std::uint64_t kSmallestPart = std::uint64_t{256} << 10, kUsualPart = std::uint64_t{4} << 20;
constexpr unsigned kMostThreads = 16;
constexpr auto kReport = std::chrono::milliseconds(25);
constexpr double kScanShare = 0.9; ///< share of the work spent on scanning; the rest is sealing

class Scanning {
public:
    Scanning(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const PassOptions& passOptions,
             const ReadOptions& options)
        : m_source(source), m_shared(shared), m_begin(begin), m_passOptions(passOptions), m_options(options)
    {
        m_threads =
            std::clamp(options.threads != 0 ? options.threads : std::thread::hardware_concurrency(), 1U, kMostThreads);
        const auto size = source.knownSize();
        m_partBytes = size
                          ? std::clamp<std::uint64_t>((*size - std::min(*size, begin)) / (std::uint64_t{8} * m_threads),
                                                      kSmallestPart, kUsualPart)
                          : kUsualPart;
    }

    ArrayEnd run(const std::function<void(ScanResult&&)>& commit)
    {
        const std::stop_callback chain(m_options.stop, [this] { m_stop.request_stop(); });
        std::vector<std::jthread> workers;
        // Whichever way this function exits, the workers must be stopped before they are joined.
        const struct Ending {
            Scanning& scanning;
            ~Ending()
            {
                scanning.m_stop.request_stop();
                const std::scoped_lock lock(scanning.m_mutex);
                scanning.m_changed.notify_all();
            }
        } ending{*this};
        // If one part contains the rest of the file, this thread scans it: starting another one would take longer.
        const auto size = m_source.knownSize();
        const unsigned threads = size && *size <= partBegin(1) ? 0 : m_threads;
        try {
            for (unsigned i = 0; i < threads; ++i) {
                {
                    const std::scoped_lock lock(m_mutex);
                    ++m_working;
                }
                workers.emplace_back([this] { work(); });
            }
        } catch (const std::system_error&) { // no more threads: the running ones do the work, or else this thread does
            const std::scoped_lock lock(m_mutex);
            --m_working;
        }
        std::optional<ChunkScan> own; // scans what no thread has taken, and parts whose first event was guessed wrong
        std::uint64_t expected = m_begin;
        for (std::uint64_t part = 0;; ++part) {
            const std::uint64_t limit = partBegin(part + 1);
            auto scanned = take(part);
            if (m_options.stop.stop_requested())
                return {};
            if (scanned && expected >= limit)
                continue; // an event of an earlier part extends past the end of this part
            if (!scanned || scanned->begin != expected) {
                if (!own)
                    own.emplace(m_source, m_shared, m_passOptions);
                scanned = own->scan(expected, scanned ? limit : kNoEvent, m_stop.get_token());
            }
            commit(std::move(scanned->result));
            expected = scanned->end.offset;
            report(expected);
            if (!scanned->reachedLimit)
                return scanned->end;
        }
    }

private:
    [[nodiscard]] std::uint64_t partBegin(std::uint64_t part) const { return m_begin + part * m_partBytes; }
    /// If a worker runs out of memory, the scan ends; the program continues.
    void work()
    {
        bool outOfMemory = false;
        try {
            scanParts();
        } catch (const std::bad_alloc&) {
            outOfMemory = true;
            m_stop.request_stop();
        }
        const std::scoped_lock lock(m_mutex);
        m_outOfMemory = m_outOfMemory || outOfMemory;
        --m_working;
        m_changed.notify_all();
    }

    void scanParts()
    {
        ChunkScan scan(m_source, m_shared, m_passOptions);
        const std::stop_token stop = m_stop.get_token();
        while (!stop.stop_requested()) {
            const std::uint64_t part = m_next++;
            {
                // Limits the number of parts that wait to be committed.
                std::unique_lock lock(m_mutex);
                m_changed.wait(lock, [&] { return part < m_taken + 2 * m_threads + 2 || stop.stop_requested(); });
            }
            if (stop.stop_requested() || !m_source.reaches(partBegin(part)))
                break;
            const std::uint64_t limit = partBegin(part + 1);
            const auto begin = part == 0 ? std::optional(m_begin) : scan.guessEvent(partBegin(part), limit, true, stop);
            ScannedPart scanned = begin ? scan.scan(*begin, limit, stop) : ScannedPart{};
            const std::scoped_lock lock(m_mutex);
            m_done.emplace(part, std::move(scanned));
            m_changed.notify_all();
        }
    }

    std::optional<ScannedPart> take(std::uint64_t part)
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait_for(lock, kReport, [&] { return m_done.contains(part) || m_working == 0; });
            if (const auto found = m_done.find(part); found != m_done.end()) {
                ScannedPart scanned = std::move(found->second);
                m_done.erase(found);
                m_taken = part + 1;
                m_changed.notify_all();
                return scanned;
            }
            if (m_outOfMemory)
                throw std::bad_alloc();
            if (m_working == 0 || m_options.stop.stop_requested())
                return std::nullopt;
            lock.unlock();
            report(partBegin(part));
            lock.lock();
        }
    }

    void report(std::uint64_t offset)
    {
        if (!m_options.progress)
            return;
        const auto size = m_source.knownSize();
        const double share = size ? static_cast<double>(offset) / static_cast<double>(std::max<std::uint64_t>(*size, 1))
                                  : m_source.inflatedShare();
        m_reported = std::max(m_reported, std::min(share, 1.0) * kScanShare);
        m_options.progress(m_reported);
    }

    ByteSource& m_source;
    SharedBuild& m_shared;
    std::uint64_t m_begin;
    const PassOptions& m_passOptions;
    const ReadOptions& m_options;
    unsigned m_threads = 1;
    std::uint64_t m_partBytes = 0;
    std::stop_source m_stop;
    std::atomic<std::uint64_t> m_next{0};
    double m_reported = 0;

    std::mutex m_mutex; ///< guards the members below; held only briefly
    std::condition_variable m_changed;
    std::map<std::uint64_t, ScannedPart> m_done;
    std::uint64_t m_taken = 0; ///< parts that have been committed
    unsigned m_working = 0;    ///< threads that may still deliver parts
    bool m_outOfMemory = false;
};

} // namespace

ArrayEnd scanArray(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const PassOptions& passOptions,
                   const ReadOptions& options, const std::function<void(ScanResult&&)>& commit)
{
    return Scanning(source, shared, begin, passOptions, options).run(commit);
}

} // namespace profiler::formats::json
