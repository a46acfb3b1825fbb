#include "app/timeline/slice_search.h"
#include "tests/app_timeline/timeline_canvas_fixture.h"

#include <set>

namespace app {
namespace {

using namespace profiler;

/// A forward and a backward operator with the same sequence number, each with a call and its kernel.
class FlowsTest : public testing::Test {
protected:
    FlowsTest()
    {
        Track thread;
        thread.kind = TrackKind::MainThread;
        thread.name = "main thread";
        main = builder.addTrack(thread);
        Track stream;
        stream.kind = TrackKind::Stream;
        stream.name = "stream 7";
        device = builder.addTrack(stream);
        add(main, ActivityKind::CpuOp, "aten::conv2d", 0, 1000, 0, 0, 42);
        add(main, ActivityKind::CpuOp, "aten::convolution", 100, 900, 1);
        add(main, ActivityKind::CudaRuntime, "cudaLaunchKernel", 200, 300, 2, 5);
        add(device, ActivityKind::Kernel, "fprop", 1500, 1900, 0, 5);
        add(main, ActivityKind::CpuOp, "ConvolutionBackward0", 5000, 6000, 0, 0, 42, slice_flag::kBackward);
        add(main, ActivityKind::CudaRuntime, "cudaLaunchKernel", 5200, 5300, 1, 6);
        add(device, ActivityKind::Kernel, "dgrad", 6500, 6900, 0, 6);
        trace = builder.finish();
    }

    void add(TrackId track, ActivityKind kind, const char* name, std::int64_t begin, std::int64_t end, int depth,
             std::uint64_t correlation = 0, std::int64_t sequence = -1, std::uint8_t flags = 0)
    {
        Slice slice;
        slice.begin = traceTime(begin);
        slice.duration = Nanoseconds{end - begin};
        slice.name = builder.intern(name);
        slice.kind = kind;
        slice.depth = static_cast<std::uint8_t>(depth);
        slice.correlation = {correlation};
        slice.sequence = sequence;
        slice.flags = flags;
        builder.add(track, slice);
    }
    Slice at(TrackId track, int depth, std::int64_t time) const
    {
        const auto found = trace->at(track, depth, traceTime(time));
        EXPECT_TRUE(found);
        return found.value_or(Slice{});
    }
    std::set<std::string> arrows(const Slice& slice) const
    {
        std::set<std::string> all;
        for (const FlowArrow& arrow : flowsAround(*trace, slice))
            all.insert(std::string(trace->name(arrow.from)) + " > " + std::string(trace->name(arrow.to)));
        return all;
    }
    std::string name(const std::optional<Slice>& slice) const
    {
        return slice ? std::string(trace->name(*slice)) : "nothing";
    }

    TraceBuilder builder;
    TrackId main, device;
    std::shared_ptr<const Trace> trace;
};

TEST_F(FlowsTest, AnOperatorLeadsToItsCallsKernelsAndItsBackward)
{
    const std::set<std::string> all{"aten::conv2d > cudaLaunchKernel", "cudaLaunchKernel > fprop",
                                    "aten::conv2d > ConvolutionBackward0", "ConvolutionBackward0 > cudaLaunchKernel",
                                    "cudaLaunchKernel > dgrad"};
    EXPECT_EQ(arrows(at(main, 0, 500)), all);
}

TEST_F(FlowsTest, AKernelLeadsBackToItsOperator)
{
    const std::set<std::string> all{"cudaLaunchKernel > dgrad", "ConvolutionBackward0 > cudaLaunchKernel",
                                    "aten::conv2d > ConvolutionBackward0"};
    EXPECT_EQ(arrows(at(device, 0, 6600)), all);
}

TEST_F(FlowsTest, ArrowsAreFollowedForwardAndBack)
{
    const Slice op = at(main, 0, 500);
    const auto call = alongFlow(*trace, op, true);
    EXPECT_EQ(name(call), "cudaLaunchKernel");
    const auto kernel = alongFlow(*trace, *call, true);
    EXPECT_EQ(name(kernel), "fprop");
    EXPECT_EQ(name(alongFlow(*trace, *kernel, true)), "nothing");
    EXPECT_EQ(name(alongFlow(*trace, *kernel, false)), "cudaLaunchKernel");
    EXPECT_EQ(name(alongFlow(*trace, *call, false)), "aten::convolution") << "the innermost operator that made the "
                                                                             "call";
    EXPECT_EQ(name(otherPass(*trace, op)), "ConvolutionBackward0");
    EXPECT_EQ(name(otherPass(*trace, *kernel)), "ConvolutionBackward0");
    EXPECT_EQ(name(otherPass(*trace, at(device, 0, 6600))), "aten::conv2d");
}

TEST_F(FlowsTest, ReturnsAtMostTheRequestedNumber)
{
    EXPECT_EQ(flowsAround(*trace, at(main, 0, 500), 2).size(), 2U);
}

TEST_F(FlowsTest, AllInViewUntilTheyAreTooMany)
{
    const std::vector<TrackId> tracks{main, device};
    FlowMemory memory;
    const FlowsInView all = flowsInView(trace, tracks, trace->range(), memory);
    EXPECT_EQ(all.arrows.size(), 3U) << "two launches, one pair of passes";
    EXPECT_EQ(flowsInView(trace, tracks, {traceTime(5000), traceTime(6000)}, memory).arrows.size(), 1U);
    const auto dense = test::trainingTraceOf(50'000);
    std::vector<TrackId> every;
    for (const Track& track : dense->tracks())
        if (track.kind != TrackKind::Counter)
            every.push_back(track.id);
    const FlowsInView none = flowsInView(dense, every, dense->range(), memory);
    EXPECT_TRUE(none.tooMany);
    EXPECT_TRUE(none.arrows.empty());
    EXPECT_EQ(flowsInView(trace, tracks, trace->range(), memory).arrows.size(), 3U) << "not those of the other trace";
}

TEST(FlowsInView, ContainFlowsOfTheFile)
{
    TraceBuilder builder;
    const auto add = [&](TrackKind kind, const char* name, ActivityKind what, std::int64_t begin) {
        Track track;
        track.kind = kind;
        track.name = name;
        const TrackId id = builder.addTrack(track);
        Slice slice;
        slice.begin = traceTime(begin);
        slice.duration = Nanoseconds{100};
        slice.name = builder.intern(name);
        slice.kind = what;
        builder.add(id, slice);
        return SliceId{id, 0};
    };
    const SliceId call = add(TrackKind::MainThread, "cudaLaunchKernel", ActivityKind::CudaRuntime, 0);
    const SliceId kernel = add(TrackKind::Stream, "kernel", ActivityKind::Kernel, 500);
    const SliceId woken = add(TrackKind::Thread, "callback", ActivityKind::Other, 700);
    builder.addFlows({{FlowKind::Launch, call, kernel}, {FlowKind::Async, kernel, woken}});
    const auto trace = builder.finish();
    const std::vector<TrackId> tracks{call.track, kernel.track, woken.track};
    FlowMemory memory;
    const auto all = flowsInView(trace, tracks, trace->range(), memory);
    ASSERT_EQ(all.arrows.size(), 2U) << "a launch without correlation, and one that starts on a stream";
    EXPECT_EQ(all.arrows[0].to.id, kernel);
    EXPECT_EQ(all.arrows[1].to.id, woken);
    EXPECT_EQ(flowsInView(trace, tracks, {traceTime(0), traceTime(200)}, memory).arrows.size(), 1U);
}

TEST_F(TimelineCanvasTest, BracketsFollowFlows)
{
    const Slice kernel = trace->ofKind(ActivityKind::Kernel).at(40);
    canvas.setSelectedSlice(kernel.id);
    key(Qt::Key_BracketLeft);
    EXPECT_EQ(trace->name(*scene().selected), "cudaLaunchKernel");
    key(Qt::Key_BracketLeft);
    EXPECT_EQ(scene().selected->kind, ActivityKind::CpuOp);
    key(Qt::Key_BracketRight);
    key(Qt::Key_BracketRight);
    EXPECT_EQ(scene().selected->id, kernel.id);
    EXPECT_TRUE(QRectF(scene().lanesRect()).intersects(scene().rectOf(kernel))) << "it comes into view";
}

TEST_F(TimelineCanvasTest, ArrowsOfAllInViewAreAToggle)
{
    canvas.bringIntoView(step(8).range());
    const QImage without = canvas.viewport()->grab().toImage();
    key(Qt::Key_L);
    EXPECT_NE(canvas.viewport()->grab().toImage(), without);
    key(Qt::Key_L);
    EXPECT_EQ(canvas.viewport()->grab().toImage(), without);
}

} // namespace
} // namespace app
