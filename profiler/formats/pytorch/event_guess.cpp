#include "profiler/formats/pytorch/event_guess.h"

#include "profiler/formats/pytorch/bytes.h"

#include <algorithm>
#include <array>
#include <string>

namespace profiler::formats::json {

namespace {

/// Limits the nesting that is followed. If every event lacks its end, each event seems to contain all later ones, and
/// scanning all of them for each event would take quadratic time.
constexpr std::size_t kDeepest = 1024;

/// True if an event starts here, inside what looks like a text: an earlier quote is missing or superfluous.
bool eventInText(const char* brace, const char* begin, const char* end)
{
    const auto ahead = std::min(kGuessLook, static_cast<std::size_t>(end - brace));
    const auto behind = std::min(kGuessLook, static_cast<std::size_t>(brace - begin));
    return looksLikeEvent({brace, ahead}) && followsEvent({brace - behind, behind}, true);
}

bool endsEvent(const char* after, const char* end)
{
    const char* p = skipSpace(after);
    if (*p == ',')
        p = skipSpace(p + 1);
    return p >= end || *p == '{' || *p == ']';
}

} // namespace

bool looksLikeEvent(std::string_view text)
{
    constexpr std::array<std::string_view, 16> kKeys = {"ph\"",  "name\"", "cat\"",   "pid\"", "tid\"", "ts\"",
                                                        "dur\"", "args\"", "id\"",    "s\"",   "bp\"",  "tts\"",
                                                        "id2\"", "tdur\"", "cname\"", "sf\""};
    std::size_t i = 1;
    while (i < text.size() && isSpace(text[i]))
        ++i;
    if (i == text.size() || text[i] != '"')
        return false;
    text.remove_prefix(i + 1);
    return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) { return text.starts_with(key); });
}

bool followsEvent(std::string_view before, bool sound)
{
    const auto dropSpace = [&] {
        while (!before.empty() && isSpace(before.back()))
            before.remove_suffix(1);
    };
    dropSpace();
    if (before.empty() || before.back() != ',')
        return false;
    before.remove_suffix(1);
    dropSpace();
    return !sound || (!before.empty() && before.back() == '}');
}

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
                if (p >= end || *p == '\n' || (*p == '{' && eventInText(p, event, end)))
                    return nullptr;
            }
            break;
        case '{':
        case '[':
            if (!closers.empty() && closers.back() == '}' && before != ':')
                return nullptr; // objects contain keys, so another event starts where this one should have ended
            if (closers.size() == kDeepest)
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

} // namespace profiler::formats::json
