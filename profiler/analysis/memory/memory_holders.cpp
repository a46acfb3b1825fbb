#include "profiler/analysis/memory/memory_holders.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace profiler::analysis {

namespace {

constexpr std::string_view kNone = "-", kRest = "rest";

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end && !text.empty() ? std::optional(value) : std::nullopt;
}

/// A nonnegative number of bytes or blocks.
std::optional<std::int64_t> amount(std::string_view text)
{
    const auto value = number(text);
    return value && *value >= 0 ? value : std::nullopt;
}

/// Removes and returns the text up to `end`; `end` itself is also removed.
std::string_view takeUntil(std::string_view& text, char end)
{
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return taken;
}

/// "bytes TAB blocks TAB step TAB phase TAB operator", with "-" for none.
std::optional<MemoryHolder> holderOf(std::string_view line)
{
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields)
        field = takeUntil(line, '\t');
    const auto bytes = amount(fields[0]), blocks = amount(fields[1]);
    if (!bytes || !blocks)
        return std::nullopt;
    const auto name = [](std::string_view text) { return text == kNone ? std::string() : std::string(text); };
    MemoryHolder holder{*bytes, *blocks, {}, {}, {}, fields[2] == kRest};
    if (!holder.rest) {
        holder.step = number(fields[2]);
        holder.phase = name(fields[3]);
        holder.op = name(fields[4]);
    }
    return holder;
}

std::vector<MemoryHolder> holdersOf(std::string_view text)
{
    std::vector<MemoryHolder> holders;
    while (!text.empty())
        if (auto holder = holderOf(takeUntil(text, '\n')))
            holders.push_back(std::move(*holder));
    std::stable_sort(holders.begin(), holders.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
        return a.rest != b.rest ? b.rest : a.bytes > b.bytes;
    });
    return holders;
}

/// "cpu", "gpu3"
std::optional<std::string> placeOf(std::string_view key)
{
    if (key == "cpu")
        return "CPU";
    if (!key.starts_with("gpu") || !number(key.substr(3)))
        return std::nullopt;
    return "GPU " + std::string(key.substr(3));
}

std::string_view textOf(const Trace& trace, const std::string& key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string_view{} : std::string_view(entry->second);
}

void append(std::vector<MemoryMoment>& moments, const Trace& trace, std::string_view prefix, bool ranOut)
{
    for (auto entry = trace.metadata().lower_bound(prefix);
         entry != trace.metadata().end() && entry->first.starts_with(prefix); ++entry) {
        const auto place = placeOf(std::string_view(entry->first).substr(prefix.size()));
        const auto bytes = amount(entry->second);
        if (place && bytes)
            moments.push_back({*place, ranOut, *bytes, amount(textOf(trace, entry->first + ".asked")),
                               holdersOf(textOf(trace, entry->first + ".alive"))});
    }
}

} // namespace

std::vector<MemoryMoment> memoryMoments(const Trace& trace)
{
    std::vector<MemoryMoment> moments;
    append(moments, trace, "memory.out.", true);
    append(moments, trace, "memory.peak.", false);
    return moments;
}

} // namespace profiler::analysis
