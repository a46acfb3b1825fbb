#include "profiler/analysis/slice_queries.h"

#include "profiler/model/track_slices.h"

#include <compare>
#include <cstdint>

namespace profiler::analysis {

namespace {

struct Key {
    std::int64_t begin = 0, minusDuration = 0;
    std::uint32_t depth = 0, index = 0;
    auto operator<=>(const Key&) const = default;
};

/// Where the keys begin that are sorted among themselves, and the number of keys.
std::vector<std::size_t> runsOf(const std::vector<Key>& keys)
{
    std::vector<std::size_t> runs = {0};
    for (std::size_t i = 1; i < keys.size(); ++i)
        if (keys[i] < keys[i - 1])
            runs.push_back(i);
    runs.push_back(keys.size());
    return runs;
}

/// Merges neighbouring runs until one is left.
void mergeRuns(std::vector<Key>& keys, std::vector<std::size_t> runs)
{
    std::vector<Key> merged(keys.size());
    while (runs.size() > 2) {
        std::vector<std::size_t> larger = {0};
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            const auto at = [&](std::size_t run) {
                return keys.begin() + static_cast<std::ptrdiff_t>(runs[std::min(run, runs.size() - 1)]);
            };
            std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), merged.begin() + static_cast<std::ptrdiff_t>(runs[i]));
            larger.push_back(runs[std::min(i + 2, runs.size() - 1)]);
        }
        keys.swap(merged);
        runs = std::move(larger);
    }
}

/// What a predicate says of the names of a trace, each asked once.
class NameAnswers {
public:
    NameAnswers(const Trace& trace, const std::function<bool(std::string_view)>& named)
        : m_trace(trace), m_named(named), m_answers(trace.stringCount(), Answer::NotAsked)
    {
    }
    bool operator()(std::uint32_t name)
    {
        Answer& answer = m_answers[name];
        if (answer == Answer::NotAsked)
            answer = m_named(m_trace.string(StringId{name})) ? Answer::Yes : Answer::No;
        return answer == Answer::Yes;
    }

private:
    enum class Answer : std::uint8_t { NotAsked, No, Yes };

    const Trace& m_trace;
    const std::function<bool(std::string_view)>& m_named;
    std::vector<Answer> m_answers;
};

} // namespace

bool hasKind(const Trace& trace, ActivityKind kind)
{
    const auto tracks = trace.tracks();
    return std::any_of(tracks.begin(), tracks.end(), [&](const Track& track) {
        const auto& blocks = trace.slicesOf(track.id).blocks;
        return std::any_of(blocks.begin(), blocks.end(),
                           [&](const BlockRef& block) { return block.summary().holds(kind); });
    });
}

std::vector<Slice> ofKindNamed(const Trace& trace, ActivityKind kind,
                               const std::function<bool(std::string_view name)>& named)
{
    NameAnswers isNamed(trace, named);
    std::vector<Slice> found;
    for (const Track& track : trace.tracks())
        for (const BlockRef& ref : trace.slicesOf(track.id).blocks) {
            if (!ref.summary().holds(kind))
                continue;
            const BlockPin block = ref.pin();
            for (std::uint32_t position = 0; block && position < block->size(); ++position) {
                const SliceColumns& columns = block->columns;
                if (columns.kind(position) == kind && isNamed(columns.name(position)))
                    found.push_back(trace.slice({track.id, columns.ordinal(position)}));
            }
        }
    sortByNesting(found);
    return found;
}

void sortByNesting(std::vector<Slice>& slices)
{
    std::vector<Key> keys;
    keys.reserve(slices.size());
    for (const Slice& slice : slices)
        keys.push_back(
            {toNs(slice.begin), -slice.duration.count(), slice.depth, static_cast<std::uint32_t>(keys.size())});
    auto runs = runsOf(keys);
    if (runs.size() <= 2)
        return;
    mergeRuns(keys, std::move(runs));
    std::vector<Slice> sorted;
    sorted.reserve(slices.size());
    for (const Key& key : keys)
        sorted.push_back(slices[key.index]);
    slices = std::move(sorted);
}

} // namespace profiler::analysis
