#define PCRE2_CODE_UNIT_WIDTH 8
#include "profiler/model/name_search.h"

#include "profiler/model/track_slices.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <string>
#include <utility>

namespace profiler {
namespace {

/// Maximum steps of one match. For comparison, (a+)+b on thirty letters takes a thousand times more.
constexpr std::uint32_t kMaxSteps = 1'000'000;

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

std::uint32_t optionsOf(const NamePattern& pattern)
{
    // Names come from files and may contain bytes that are not valid UTF-8.
    std::uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    options |= pattern.regex ? PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF : PCRE2_LITERAL;
    if (!pattern.caseSensitive)
        options |= PCRE2_CASELESS;
    return options;
}

/// A compiled NamePattern. For use by one thread.
class NameMatcher {
public:
    static Result<NameMatcher> make(const NamePattern& pattern);
    /// Empty if the expression exceeded the step limit on this text.
    [[nodiscard]] std::optional<bool> matches(std::string_view text) const;

private:
    NameMatcher() = default;
    std::unique_ptr<pcre2_code, FreeCode> m_code;
    std::unique_ptr<pcre2_match_data, FreeMatch> m_match;
    std::unique_ptr<pcre2_match_context, FreeContext> m_context;
};

Result<NameMatcher> NameMatcher::make(const NamePattern& pattern)
{
    int number = 0;
    PCRE2_SIZE offset = 0;
    NameMatcher matcher;
    matcher.m_code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.text.data()), pattern.text.size(),
                                       optionsOf(pattern), &number, &offset, nullptr));
    if (!matcher.m_code) {
        std::array<PCRE2_UCHAR, 256> words{};
        pcre2_get_error_message(number, words.data(), words.size());
        return fail<"search.pattern", "the search pattern is invalid: {why}">(
            Error::Code::Invalid, "character " + std::to_string(offset + 1),
            "correct the pattern, or search for plain text", {{"why", reinterpret_cast<const char*>(words.data())}});
    }
    // If the just-in-time compiler is unavailable (some kernels forbid it), PCRE2 uses its interpreter.
    static_cast<void>(pcre2_jit_compile(matcher.m_code.get(), PCRE2_JIT_COMPLETE));
    matcher.m_match.reset(pcre2_match_data_create(1, nullptr));
    matcher.m_context.reset(pcre2_match_context_create(nullptr));
    if (!matcher.m_match || !matcher.m_context)
        return fail<"search.no_memory", "not enough memory for the search">(Error::Code::NoSpace);
    pcre2_set_match_limit(matcher.m_context.get(), kMaxSteps);
    pcre2_set_depth_limit(matcher.m_context.get(), kMaxSteps);
    return matcher;
}

std::optional<bool> NameMatcher::matches(std::string_view text) const
{
    const int found = pcre2_match(m_code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                  m_match.get(), m_context.get());
    if (found == PCRE2_ERROR_NOMATCH)
        return false;
    if (found < 0)
        return std::nullopt;
    return true;
}

/// Position of a slice in the order of a search.
struct Key {
    std::int64_t begin = 0;
    std::uint32_t track = 0;
    std::int64_t shortness = 0; ///< negated duration
    std::uint32_t ordinal = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
};
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Key keyOf(const Slice& slice)
{
    return {toNs(slice.begin), slice.id.track.value, -slice.duration.count(), slice.id.ordinal};
}
Key keyAt(TrackId track, const TrackBlock& block, std::uint32_t position)
{
    const auto& columns = block.columns;
    return {columns.begin(position), track.value, -columns.duration(position), columns.ordinal(position)};
}

std::optional<Slice> sliceOf(const Trace& trace, const std::optional<Key>& key)
{
    return key ? std::optional{trace.slice({TrackId{key->track}, key->ordinal})} : std::nullopt;
}

/// The first match in a block after a key.
std::optional<Key> nextIn(const NameSearch& search, TrackId track, const TrackBlock& block, const Key& after)
{
    for (std::uint32_t i = block.columns.firstFrom(after.begin); i < block.size(); ++i) {
        if (!search.matches(StringId{block.columns.name(i)}))
            continue;
        if (const Key key = keyAt(track, block, i); key > after)
            return key;
    }
    return std::nullopt;
}

/// The last match in a block before a key.
std::optional<Key> lastIn(const NameSearch& search, TrackId track, const TrackBlock& block, const Key& before)
{
    const auto& columns = block.columns;
    std::uint32_t end = columns.firstFrom(before.begin);
    while (end < block.size() && columns.begin(end) == before.begin)
        ++end;
    for (std::uint32_t i = end; i > 0; --i) {
        if (!search.matches(StringId{columns.name(i - 1)}))
            continue;
        if (const Key key = keyAt(track, block, i - 1); key < before)
            return key;
    }
    return std::nullopt;
}

std::optional<Key> nextAfter(const NameSearch& search, std::span<const TrackId> tracks, const Key& after)
{
    std::optional<Key> best;
    for (const TrackId track : tracks) {
        const TrackSlices& slices = search.trace()->slicesOf(track);
        const auto& blocks = slices.blocks;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const bool passed =
                slices.ordered && i + 1 < blocks.size() && blocks[i + 1].summary().firstBegin < after.begin;
            if (passed || (best && blocks[i].summary().firstBegin > best->begin))
                continue;
            const BlockPin block = blocks[i].pin();
            const auto found = block ? nextIn(search, track, *block, after) : std::nullopt;
            if (found && (!best || *found < *best))
                best = found;
        }
    }
    return best;
}

std::optional<Key> lastBefore(const NameSearch& search, std::span<const TrackId> tracks, const Key& before)
{
    std::optional<Key> best;
    for (const TrackId track : tracks) {
        const TrackSlices& slices = search.trace()->slicesOf(track);
        const auto& blocks = slices.blocks;
        for (std::size_t i = blocks.size(); i > 0; --i) {
            const BlockRef& ref = blocks[i - 1];
            const bool passed =
                best && slices.ordered && i < blocks.size() && blocks[i].summary().firstBegin < best->begin;
            if (passed)
                break;
            if (ref.summary().firstBegin > before.begin)
                continue;
            const BlockPin block = ref.pin();
            const auto found = block ? lastIn(search, track, *block, before) : std::nullopt;
            if (found && (!best || *found > *best))
                best = found;
        }
    }
    return best;
}

/// Calls `visit(track, block)` for the blocks that may contain slices starting in [from, to).
template <class Visit>
void forEachBlock(const NameSearch& search, std::span<const TrackId> tracks, std::int64_t from, std::int64_t to,
                  Visit&& visit)
{
    for (const TrackId track : tracks) {
        for (const BlockRef& ref : search.trace()->slicesOf(track).blocks) {
            if (!ref.summary().overlaps(from, to))
                continue;
            if (const BlockPin block = ref.pin())
                visit(track, *block);
        }
    }
}

} // namespace

Result<NameSearch> NameSearch::make(std::shared_ptr<const Trace> trace, const NamePattern& pattern)
{
    NameSearch search;
    search.m_trace = std::move(trace);
    search.m_matches.resize(search.m_trace->stringCount());
    if (pattern.text.empty())
        return search;
    const auto matcher = NameMatcher::make(pattern);
    if (!matcher)
        return tl::unexpected(matcher.error());
    for (std::uint32_t i = 0; i < search.m_matches.size(); ++i) {
        const auto matched = matcher->matches(search.m_trace->string(StringId{i}));
        search.m_matches[i] = matched.value_or(false) ? 1 : 0;
        search.m_names += search.m_matches[i];
        search.m_undecided += matched ? 0 : 1;
    }
    return search;
}

std::optional<Slice> NameSearch::next(std::span<const TrackId> tracks, TraceTime from) const
{
    return sliceOf(*m_trace, nextAfter(*this, tracks, {toNs(from), 0, kLeast, 0}));
}

std::optional<Slice> NameSearch::next(std::span<const TrackId> tracks, const Slice& after) const
{
    return sliceOf(*m_trace, nextAfter(*this, tracks, keyOf(after)));
}

std::optional<Slice> NameSearch::previous(std::span<const TrackId> tracks, TraceTime before) const
{
    return sliceOf(*m_trace, lastBefore(*this, tracks, {toNs(before), 0, kLeast, 0}));
}

std::optional<Slice> NameSearch::previous(std::span<const TrackId> tracks, const Slice& before) const
{
    return sliceOf(*m_trace, lastBefore(*this, tracks, keyOf(before)));
}

std::uint64_t NameSearch::count(std::span<const TrackId> tracks) const
{
    std::uint64_t found = 0;
    forEachBlock(*this, tracks, kLeast, kMost, [&](TrackId, const TrackBlock& block) {
        for (std::uint32_t i = 0; i < block.size(); ++i)
            found += m_matches[block.columns.name(i)];
    });
    return found;
}

std::uint64_t NameSearch::rank(std::span<const TrackId> tracks, const Slice& slice) const
{
    const Key key = keyOf(slice);
    std::uint64_t found = 0;
    forEachBlock(*this, tracks, kLeast, kMost, [&](TrackId track, const TrackBlock& block) {
        const std::uint32_t before = block.columns.firstFrom(key.begin);
        for (std::uint32_t i = 0; i < before; ++i)
            found += m_matches[block.columns.name(i)];
        for (std::uint32_t i = before; i < block.size() && block.columns.begin(i) == key.begin; ++i)
            found += matches(StringId{block.columns.name(i)}) && keyAt(track, block, i) < key ? 1 : 0;
    });
    return found;
}

void NameSearch::marks(std::span<const TrackId> tracks, TimeRange window, std::span<std::uint32_t> buckets) const
{
    std::fill(buckets.begin(), buckets.end(), 0U);
    if (buckets.empty() || window.empty())
        return;
    const std::int64_t from = toNs(window.begin);
    const std::int64_t to = toNs(window.end);
    const double perNs = static_cast<double>(buckets.size()) / static_cast<double>(window.duration().count());
    forEachBlock(*this, tracks, from, to, [&](TrackId, const TrackBlock& block) {
        const std::uint32_t last = block.columns.firstFrom(to);
        for (std::uint32_t i = block.columns.firstFrom(from); i < last; ++i) {
            if (m_matches[block.columns.name(i)] == 0)
                continue;
            const double place = static_cast<double>(block.columns.begin(i) - from) * perNs;
            ++buckets[std::min(static_cast<std::size_t>(place), buckets.size() - 1)];
        }
    });
}

} // namespace profiler
