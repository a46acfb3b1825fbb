#include "profiler/analysis/operators/range_name.h"

#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace profiler::analysis {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// True for spaces and punctuation, but not for bytes of non-ASCII letters.
bool separates(char c)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return static_cast<unsigned char>(c) < 0x80 && !isDigit(c) && !letter;
}

/// The start of the run of characters directly before `end` that satisfy `is`.
template <class Is>
std::size_t startOf(std::string_view text, std::size_t end, Is&& is)
{
    while (end > 0 && is(text[end - 1]))
        --end;
    return end;
}

bool isBlank(char c)
{
    return c == ' ';
}

struct Number {
    std::size_t begin = 0, end = 0; ///< empty: none
};

/// The number at the end of a name, or the first number of "12/100".
Number numberAtEnd(std::string_view name)
{
    Number number{startOf(name, name.size(), isDigit), name.size()};
    const std::size_t slash = startOf(name, number.begin, isBlank);
    if (number.begin == number.end || slash == 0 || name[slash - 1] != '/')
        return number;
    const std::size_t end = startOf(name, slash - 1, isBlank);
    const std::size_t begin = startOf(name, end, isDigit);
    return begin < end ? Number{begin, end} : number;
}

} // namespace

std::string_view withoutNumber(std::string_view range)
{
    const Number number = numberAtEnd(range);
    if (number.begin == number.end || number.begin == 0)
        return range;
    const std::size_t end = startOf(range, number.begin, separates);
    return range.substr(0, end > 0 ? end : number.begin); // "#12" belongs to "#"
}

std::optional<std::int64_t> numberOf(std::string_view range)
{
    const Number number = numberAtEnd(range);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(range.data() + number.begin, range.data() + number.end, value);
    return number.begin < number.end && parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

bool isOfRange(std::string_view name, std::string_view range)
{
    if (!name.starts_with(range))
        return false;
    const Number number = numberAtEnd(name);
    const std::string_view between = name.substr(range.size());
    const std::size_t separators = number.begin < range.size() ? between.size() : number.begin - range.size();
    return std::all_of(between.begin(), between.begin() + static_cast<std::ptrdiff_t>(separators), separates);
}

std::vector<RepeatedRange> countedRanges(const Trace& trace, std::size_t most)
{
    struct Sum {
        std::int64_t count = 0;
        Nanoseconds time{};
    };
    std::map<StringId, Sum> byId;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread ||
            track.kind == TrackKind::NvtxDomain)
            for (const auto kind : {ActivityKind::Nvtx, ActivityKind::UserAnnotation})
                forEachViewOf(trace, track.id, kind, [&](const SliceView& slice) {
                    Sum& sum = byId[slice.nameId()];
                    ++sum.count;
                    sum.time += slice.duration();
                });
    std::map<std::string_view, Sum> sums;
    for (const auto& [id, of] : byId) {
        Sum& sum = sums[withoutNumber(trace.string(id))];
        sum.count += of.count;
        sum.time += of.time;
    }
    std::erase_if(sums, [](const auto& entry) { return entry.second.count < 2 || entry.first.empty(); });
    std::vector<std::pair<std::string_view, Sum>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    std::vector<RepeatedRange> ranges;
    for (const auto& [name, sum] : sorted)
        if (ranges.size() < most)
            ranges.push_back({name, sum.count});
    return ranges;
}

std::vector<std::string_view> repeatedRanges(const Trace& trace, std::size_t most)
{
    std::vector<std::string_view> names;
    for (const RepeatedRange& range : countedRanges(trace, most))
        names.push_back(range.name);
    return names;
}

} // namespace profiler::analysis
