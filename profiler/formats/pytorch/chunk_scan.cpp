#include "profiler/formats/pytorch/chunk_scan.h"

#include "profiler/formats/pytorch/bytes.h"
#include "profiler/formats/pytorch/event_guess.h"
#include "profiler/formats/pytorch/value_end.h"
#include "profiler/formats/pytorch/values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace profiler::formats::json {

namespace {

/// Number of bytes of a malformed event that are searched for its closing bracket.
constexpr std::size_t kLongestBroken = std::size_t{256} << 10;

} // namespace

ChunkScan::ChunkScan(ByteSource& source, SharedBuild& shared, const PassOptions& passOptions)
    : m_window(source), m_sink(shared, passOptions), m_parser(makeParser(m_sink))
{
}

ScannedPart ChunkScan::scan(std::uint64_t begin, std::uint64_t limit, const std::stop_token& stop)
{
    ScannedPart part;
    part.begin = begin;
    m_sink.begin(part.result);
    m_window.moveTo(begin);
    Losses& losses = part.result.losses;
    const char* cursor = m_window.begin();
    m_window.readOn(cursor);
    const auto ended = [&](ScannedPart::End how) {
        part.how = stop.stop_requested() ? ScannedPart::End::Stopped : how;
        part.end = m_window.offsetOf(cursor);
        m_sink.end();
        return std::move(part);
    };
    cursor = m_window.begin();
    while (!stop.stop_requested()) {
        Window window{cursor, m_window.end(), m_window.placeOf(limit), nullptr};
        m_sink.setWindow(m_window.begin(), m_window.offset());
        const Stop why = m_parser->scan(window, m_sink);
        cursor = window.cursor;
        switch (why) {
        case Stop::AtLimit:
            return ended(ScannedPart::End::AtLimit);
        case Stop::ArrayEnd:
            return ended(ScannedPart::End::ArrayEnd);
        case Stop::NeedsMore: {
            const bool more = m_window.readOn(cursor);
            cursor = m_window.begin();
            if (more)
                break;
            if (m_window.atEnd()) {
                const char* rest = cursor;
                while (rest < m_window.end() && (isSpace(*rest) || *rest == ','))
                    ++rest;
                if (rest < m_window.end())
                    part.cutAt = m_window.offsetOf(rest);
                cursor = m_window.end();
                return ended(ScannedPart::End::TextEnd);
            }
            losses.add(Loss::TooLong, m_window.offsetOf(cursor));
            if (!passLongEvent(cursor, stop))
                return ended(ScannedPart::End::TextEnd);
            break;
        }
        case Stop::Malformed:
        case Stop::NoObject:
        case Stop::TooDeep:
            loadBrokenEvent(cursor);
            part.brokenAt = m_window.offsetOf(cursor);
            if (const char* after = why == Stop::NoObject ? endOfNonObject(cursor) : nullptr) {
                losses.add(Loss::NoObject, *part.brokenAt);
                cursor = after;
                break;
            }
            losses.add(why == Stop::TooDeep ? Loss::TooDeep : Loss::Malformed, *part.brokenAt);
            if (!recover(cursor, stop))
                return ended(ScannedPart::End::TextEnd);
            part.brokenAt.reset();
        }
    }
    return ended(ScannedPart::End::Stopped);
}

void ChunkScan::loadBrokenEvent(const char*& cursor)
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

const char* ChunkScan::endOfNonObject(const char* cursor) const
{
    Values values;
    values.end = m_window.end();
    const char* after = values.any(cursor);
    const char* next = after ? skipSpace(after) : nullptr;
    return next && (*next == ',' || *next == ']') ? after : nullptr;
}

bool ChunkScan::recover(const char*& cursor, const std::stop_token& stop)
{
    const auto held = static_cast<std::size_t>(m_window.end() - cursor);
    const char* after = *cursor == '{' ? endOfBrokenEvent(cursor, cursor + std::min(held, kLongestBroken)) : nullptr;
    if (after) {
        cursor = after;
        return true;
    }
    const auto next = guessEvent(m_window.offsetOf(cursor) + 1, std::numeric_limits<std::uint64_t>::max(), false, stop);
    cursor = next ? m_window.placeOf(*next) : m_window.end();
    return next.has_value();
}

bool ChunkScan::passLongEvent(const char*& cursor, const std::stop_token& stop)
{
    ValueEnd event;
    const char* p = cursor;
    while (p < m_window.end() && *p != '{')
        ++p;
    for (;;) {
        const char* after = event.pass(p, m_window.end());
        cursor = after ? after : m_window.end();
        if (after)
            return true;
        if (stop.stop_requested() || !m_window.readOn(m_window.end()))
            return false;
        p = m_window.begin();
    }
}

std::optional<std::uint64_t> ChunkScan::guessEvent(std::uint64_t from, std::uint64_t limit, bool sound,
                                                   const std::stop_token& stop)
{
    // The text before the first brace matters too.
    const std::uint64_t back = std::min<std::uint64_t>(from, kGuessLook);
    if (m_window.placeOf(from - back) == m_window.end()) {
        m_window.moveTo(from - back);
        m_window.readOn(m_window.begin());
    }
    for (const char* p = m_window.placeOf(from); !stop.stop_requested();) {
        const auto left = static_cast<std::size_t>(m_window.end() - p);
        const auto* brace = left == 0 ? nullptr : static_cast<const char*>(std::memchr(p, '{', left));
        if (brace && m_window.offsetOf(brace) >= limit)
            return std::nullopt;
        if (!brace || (static_cast<std::size_t>(m_window.end() - brace) < kGuessLook && !m_window.atEnd())) {
            const char* resumeAt = brace ? brace : m_window.end();
            const std::uint64_t place = m_window.offsetOf(resumeAt);
            const bool before = resumeAt - m_window.begin() > static_cast<std::ptrdiff_t>(kGuessLook);
            if (!m_window.readOn(before ? resumeAt - kGuessLook : m_window.begin()) && (!brace || !m_window.atEnd()))
                return std::nullopt;
            p = m_window.placeOf(place);
            continue;
        }
        const std::string_view ahead(brace, std::min(kGuessLook, static_cast<std::size_t>(m_window.end() - brace)));
        const auto behind = std::min<std::ptrdiff_t>(brace - m_window.begin(), kGuessLook);
        if (looksLikeEvent(ahead) && followsEvent({brace - behind, static_cast<std::size_t>(behind)}, sound))
            return m_window.offsetOf(brace);
        p = brace + 1;
    }
    return std::nullopt;
}

} // namespace profiler::formats::json
