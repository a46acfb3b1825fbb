#include "profiler/analysis/steps/last_steps.h"

#include "profiler/model/track_slices.h"

#include <algorithm>
#include <vector>

namespace profiler::analysis {

namespace {

struct Mark {
    std::int64_t begin = 0;
    std::uint32_t args = 0; ///< index of its arguments, which contain the step number
};

bool isNewer(const Mark& a, const Mark& b)
{
    return a.begin > b.begin;
}

/// Adds the newest marks of a block, up to `most`.
void addNewest(const TrackBlock& block, std::size_t most, std::vector<Mark>& marks)
{
    const std::size_t before = marks.size();
    for (std::uint32_t position = block.size(); position > 0 && marks.size() - before < most; --position)
        if (block.columns.kind(position - 1) == ActivityKind::Step) {
            const RawSlice slice = block.at(position - 1);
            marks.push_back({slice.begin, slice.args});
        }
}

/// The newest marks of a track, newest first, up to `most`.
std::vector<Mark> newestMarks(const TrackSlices& slices, std::size_t most)
{
    std::vector<const BlockRef*> blocks;
    for (const BlockRef& block : slices.blocks)
        if (block.summary().holds(ActivityKind::Step))
            blocks.push_back(&block);
    std::sort(blocks.begin(), blocks.end(),
              [](const BlockRef* a, const BlockRef* b) { return a->summary().lastEnd > b->summary().lastEnd; });
    std::vector<Mark> marks;
    for (const BlockRef* ref : blocks) {
        if (marks.size() == most && ref->summary().lastEnd <= marks.back().begin)
            break;
        if (const BlockPin block = ref->pin())
            addNewest(*block, most, marks);
        std::sort(marks.begin(), marks.end(), isNewer);
        marks.resize(std::min(marks.size(), most));
    }
    return marks;
}

std::size_t slicesFrom(const Trace& trace, std::int64_t begin, std::size_t most)
{
    std::size_t count = 0;
    for (const Track& track : trace.tracks()) {
        count += trace.beginIn(track.id, {traceTime(begin), traceTime(RawSlice::kTimeLimit)}, most);
        if (count > most)
            break;
    }
    return count;
}

} // namespace

std::optional<LastSteps> lastSteps(const Trace& trace, const LastStepsLimit& limit)
{
    std::vector<Mark> marks;
    for (const Track& track : trace.tracks()) {
        // One more than needed, to see whether there are older ones.
        std::vector<Mark> ofTrack = newestMarks(trace.slicesOf(track.id), limit.steps + 1);
        if (ofTrack.size() > marks.size())
            marks = std::move(ofTrack);
    }
    if (marks.size() <= limit.least)
        return std::nullopt;
    // Binary search for the largest number of steps that fits: more steps contain more slices.
    std::size_t fits = limit.least, tooMany = marks.size();
    while (fits + 1 < tooMany) {
        const std::size_t some = fits + (tooMany - fits) / 2;
        (slicesFrom(trace, marks[some - 1].begin, limit.slices + 1) <= limit.slices ? fits : tooMany) = some;
    }
    return LastSteps{.begin = traceTime(marks[fits - 1].begin),
                     .count = static_cast<std::int64_t>(fits),
                     .newest = trace.args(marks.front().args).value};
}

} // namespace profiler::analysis
