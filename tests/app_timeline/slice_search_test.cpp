#include "app/timeline/slice_search.h"
#include "tests/app_timeline/training_trace.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

TrackId trackNamed(const Trace& trace, std::string_view name)
{
    for (const Track& track : trace.tracks())
        if (track.name == name)
            return track.id;
    ADD_FAILURE() << "no track " << name;
    return {};
}

std::vector<Slice> ofDepth(const Trace& trace, TrackId track, int depth)
{
    std::vector<Slice> slices = trace.sorted(track);
    std::erase_if(slices, [&](const Slice& s) { return s.depth != depth; });
    return slices;
}

TEST(SliceSearch, GoesThroughEveryDepthForwardsAndBack)
{
    const auto trace = test::trainingTrace({.steps = 12});
    const TrackId main = trackNamed(*trace, "main thread");
    for (int depth = 0; depth < trace->depthCount(main); ++depth) {
        const auto slices = ofDepth(*trace, main, depth);
        ASSERT_GE(slices.size(), 2U);
        for (std::size_t i = 0; i + 1 < slices.size(); ++i) {
            const auto next = nextSlice(*trace, slices[i]);
            ASSERT_TRUE(next) << "depth " << depth << " at " << i;
            EXPECT_EQ(next->id, slices[i + 1].id);
            const auto previous = previousSlice(*trace, slices[i + 1]);
            ASSERT_TRUE(previous);
            EXPECT_EQ(previous->id, slices[i].id);
        }
        EXPECT_FALSE(nextSlice(*trace, slices.back()));
        EXPECT_FALSE(previousSlice(*trace, slices.front()));
    }
}

TEST(SliceSearch, FindsTheNearestWithinReach)
{
    const auto trace = test::trainingTrace({.steps = 4});
    const TrackId copies = trackNamed(*trace, "stream 14");
    const auto slices = ofDepth(*trace, copies, 0);
    const auto at = [&](TraceTime time, std::int64_t reach) {
        return nearestSlice(*trace, copies, 0, time, Nanoseconds{reach});
    };
    EXPECT_EQ(at(slices[1].begin + Nanoseconds{5}, 0)->id, slices[1].id);
    EXPECT_EQ(at(slices[1].begin - Nanoseconds{500}, 1000)->id, slices[1].id);
    EXPECT_EQ(at(slices[1].end() + Nanoseconds{500}, 1000)->id, slices[1].id);
    EXPECT_FALSE(at(slices[1].end() + Nanoseconds{5000}, 1000));
}

} // namespace
} // namespace app
