#include "profiler/analysis/call_tree/call_tree.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace profiler::analysis {
namespace {

using namespace std::chrono_literals;
using test_support::traceFromText;
using testing::ElementsAre;
using testing::IsEmpty;

/// Each node as "outer;inner self/total x calls", in order; times in µs.
std::vector<std::string> paths(const CallTree& tree)
{
    std::vector<std::string> texts(tree.nodes.size());
    std::vector<std::string> lines;
    const auto us = [](Nanoseconds time) { return std::to_string(time.count() / 1000); };
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        texts[i] = (node.parent == 0 ? "" : texts[node.parent] + ";") + std::string(tree.name(node));
        lines.push_back(texts[i] + " " + us(node.self) + "/" + us(node.total) + " x" + std::to_string(node.calls));
    }
    return lines;
}

void expectSelfTimesAddUp(const CallTree& tree)
{
    const auto self = std::accumulate(tree.nodes.begin(), tree.nodes.end(), Nanoseconds{0},
                                      [](Nanoseconds sum, const CallNode& node) { return sum + node.self; });
    EXPECT_EQ(self, tree.total());
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
        Nanoseconds total = tree.nodes[i].self, before = Nanoseconds::max();
        std::uint32_t last = i + 1;
        tree.forEachChild(i, [&](std::uint32_t child) {
            EXPECT_EQ(tree.nodes[child].parent, i);
            EXPECT_LE(tree.nodes[child].total, before);
            before = tree.nodes[child].total;
            total += before;
            last = tree.nodes[child].end;
        });
        EXPECT_EQ(total, tree.nodes[i].total);
        EXPECT_EQ(last, tree.nodes[i].end);
    }
}

CallTree treeOf(std::string_view text, const CallTreeOptions& options = {})
{
    const auto trace = traceFromText(text);
    CallTree tree = callTree(*trace, options);
    expectSelfTimesAddUp(tree);
    return tree;
}

TEST(CallTree, MergesCallsWithTheSamePath)
{
    const CallTree tree = treeOf(R"(
        main
          op aten::linear 0 10
          op aten::addmm 2 5
          call cudaLaunchKernel 3 2
          op aten::relu 10 4
          op aten::linear 20 20
          op aten::addmm 21 8
          op aten::relu 32 3
    )");
    EXPECT_THAT(paths(tree), ElementsAre("aten::linear 14/30 x2", "aten::linear;aten::addmm 11/13 x2",
                                         "aten::linear;aten::addmm;cudaLaunchKernel 2/2 x1",
                                         "aten::linear;aten::relu 3/3 x1", "aten::relu 4/4 x1"));
    EXPECT_EQ(tree.total(), 34us);
    EXPECT_EQ(tree.nodes[1].longestTime, 20us);
    EXPECT_EQ(tree.nodes[1].longest.ordinal, 4U);
}

TEST(CallTree, StepMarksAreOneCall)
{
    EXPECT_THAT(paths(treeOf(R"(
        main
          annotation ProfilerStep#7 0 10
          op a 2 5
          annotation ProfilerStep#8 10 10
          op a 12 5
    )")),
                ElementsAre("ProfilerStep 10/20 x2", "ProfilerStep;a 10/10 x2"));
    CallTreeOptions options;
    options.stepRange = "iteration";
    EXPECT_THAT(paths(treeOf(R"(
        main
          nvtx "iteration 1" 0 10
          nvtx "layer 1" 2 5
          nvtx "iteration 2" 10 10
          nvtx "layer 2" 12 4
    )",
                             options)),
                ElementsAre("iteration 11/20 x2", "iteration;layer 1 5/5 x1", "iteration;layer 2 4/4 x1"));
}

TEST(CallTree, LoaderWorkersDeviceTracksAndTheProfilersOwnSpanAreNotHostTime)
{
    EXPECT_THAT(paths(treeOf(R"text(
        main
          op a 0 10
        thread "Traces"
          other "PyTorch Profiler (0)" 0 50
        worker 0
          stage decode 0 50
        stream 0 7
          kernel k 0 50
        thread "autograd"
          op b 5 3
    )text")),
                ElementsAre("a 10/10 x1", "b 3/3 x1"));
}

TEST(CallTree, OfEqualTimesTheSmallerDepthIsTheCaller)
{
    EXPECT_THAT(
        paths(treeOf(R"(
        main
          op inner 0 10 depth=2
          op middle 0 10 depth=1
          op outer 0 10 depth=0
          op outer 20 10 depth=0
          op inner 20 10 depth=1
    )")),
        ElementsAre("outer 0/20 x2", "outer;inner 10/10 x1", "outer;middle 0/10 x1", "outer;middle;inner 10/10 x1"));
}

TEST(CallTree, StepsOnATrackOfTheirOwnAreTheCallersOfTheirThread)
{
    const CallTree tree = treeOf(R"(
        thread python pid=7 tid=7
          op next 0 12
          op aten::mm 20 30
          op aten::add 70 40
          op after 205 10
        thread backward pid=7 tid=8
          op aten::mm 20 5
        main pid=7
          step 0 1 99
          phase "data wait" 1 10
          phase forward 15 50
          step 1 100 100
    )");
    // A slice that begins before a step or phase counts inside it, one that outlives it counts up to its end.
    EXPECT_THAT(paths(tree),
                ElementsAre("step 109/199 x2", "step;forward 20/50 x1", "step;forward;aten::mm 30/30 x1",
                            "step;aten::add 30/30 x1", "step;data wait 0/10 x1", "step;data wait;next 10/10 x1",
                            "after 10/10 x1", "aten::mm 5/5 x1", "next 1/1 x0"));
}

TEST(CallTree, ASliceThatOutlivesItsCallerCountsUpToTheCallersEnd)
{
    EXPECT_THAT(paths(treeOf(R"(
        main
          op a 0 10
          op b 6 10
          op c 20 5
    )")),
                ElementsAre("a 6/10 x1", "a;b 4/4 x1", "c 5/5 x1"));
}

constexpr std::string_view kSteps = R"(
    main
      op warm 0 50
      repeat 3 every 100
        annotation ProfilerStep#1 100 100
        op a 110 60
        op b 120 20
      end
      op late 450 10
)";

TEST(CallTree, AScopeClipsTimeAndCountsStartsInsideIt)
{
    CallTreeOptions options;
    options.scope.window = {{traceTime(130'000), traceTime(240'000)}};
    EXPECT_THAT(paths(treeOf(kSteps, options)),
                ElementsAre("ProfilerStep 40/110 x1", "ProfilerStep;a 40/70 x1", "ProfilerStep;a;b 30/30 x1"));
}

TEST(CallTree, AScopeOfSeveralStepsLeavesOutWhatIsBetween)
{
    const auto trace = traceFromText(R"(
        main
          step 0 0 100
          op a 10 20
          op between 100 50
          step 1 150 100
          op a 160 20
    )");
    const std::vector<Step> steps = findSteps(*trace);
    CallTreeOptions options;
    options.scope = scopeOf(*trace, steps);
    const CallTree tree = callTree(*trace, options);
    expectSelfTimesAddUp(tree);
    EXPECT_THAT(paths(tree), ElementsAre("step 160/200 x2", "step;a 40/40 x2"));
    EXPECT_EQ(tree.steps, 2U);
}

TEST(CallTree, PythonFramesAndModulesAreGroupingsOfTheirOwn)
{
    constexpr std::string_view kText = R"(
        main
          other "train.py(10): step" 0 100
          other "nn.Module: Net_0" 10 60
          other "net.py(5): forward" 12 50
          other "nn.Module: Linear_0" 15 20
          op aten::linear 16 18
          other "<built-in method zero_grad>" 80 5
    )";
    CallTreeOptions options;
    EXPECT_THAT(paths(treeOf(kText, options)), ElementsAre("aten::linear 18/18 x1"));
    options.by = CallGrouping::Python;
    EXPECT_THAT(paths(treeOf(kText, options)),
                ElementsAre("train.py(10): step 35/100 x1", "train.py(10): step;nn.Module: Net_0 10/60 x1",
                            "train.py(10): step;nn.Module: Net_0;net.py(5): forward 30/50 x1",
                            "train.py(10): step;nn.Module: Net_0;net.py(5): forward;nn.Module: Linear_0 20/20 x1",
                            "train.py(10): step;<built-in method zero_grad> 5/5 x1"));
    options.by = CallGrouping::Module;
    EXPECT_THAT(paths(treeOf(kText, options)),
                ElementsAre("nn.Module: Net_0 40/60 x1", "nn.Module: Net_0;nn.Module: Linear_0 20/20 x1"));
}

TEST(CallTree, KnowsWhichGroupingsATraceHas)
{
    const auto operators = traceFromText("main\n op a 0 1");
    EXPECT_TRUE(hasCalls(*operators, CallGrouping::Operator));
    EXPECT_FALSE(hasCalls(*operators, CallGrouping::Python));
    EXPECT_FALSE(hasCalls(*operators, CallGrouping::Module));
    const auto python = traceFromText("main\n other \"a.py(1): f\" 0 1");
    EXPECT_TRUE(hasCalls(*python, CallGrouping::Python));
    EXPECT_FALSE(hasCalls(*python, CallGrouping::Module));
    EXPECT_FALSE(hasCalls(*traceFromText("stream 0 7\n kernel k 0 1"), CallGrouping::Operator));
}

constexpr std::string_view kLaunches = R"(
    main
      op aten::linear 0 20
      op aten::addmm 2 15
      call cudaLaunchKernel 3 6 corr=1
      driver cuLaunchKernel 4 3 corr=1
      op aten::add 30 5
      op aten::copy_ 40 10
      call cudaMemcpyAsync 42 2 corr=2
      call cudaLaunchKernel 60 2 corr=3
    stream 0 7
      kernel gemm 100 50 corr=1
      kernel bias 160 20 corr=3
      kernel graph 300 7
    stream 0 8
      copy HtoD 110 30 corr=2
)";

TEST(CallTree, DeviceTimeBelongsToTheCallAroundTheLaunch)
{
    CallTreeOptions options;
    options.time = CallTime::Device;
    const CallTree tree = treeOf(kLaunches, options);
    EXPECT_THAT(paths(tree), ElementsAre("aten::linear 0/50 x1", "aten::linear;aten::addmm 0/50 x1",
                                         "aten::linear;aten::addmm;gemm 50/50 x1", "aten::copy_ 0/30 x1",
                                         "aten::copy_;Memcpy HtoD 30/30 x1", "bias 20/20 x1",
                                         "launch not recorded 0/7 x0", "launch not recorded;graph 7/7 x1"));
    EXPECT_EQ(tree.nodes[3].kind, ActivityKind::Kernel);
    EXPECT_EQ(tree.total(), 107us);
}

TEST(CallTree, DeviceTimeOfAScopeIsThatOfTheLaunchesInIt)
{
    CallTreeOptions options;
    options.time = CallTime::Device;
    options.scope.window = {{traceTime(0), traceTime(30'000)}};
    EXPECT_THAT(paths(treeOf(kLaunches, options)),
                ElementsAre("aten::linear 0/50 x1", "aten::linear;aten::addmm 0/50 x1",
                            "aten::linear;aten::addmm;gemm 50/50 x1"));
    // The copy runs in this window, but was launched before it; the launch of "graph" is unknown.
    options.scope.window = {{traceTime(100'000), traceTime(400'000)}};
    EXPECT_THAT(paths(treeOf(kLaunches, options)),
                ElementsAre("launch not recorded 0/7 x0", "launch not recorded;graph 7/7 x1"));
}

TEST(CallTree, DeviceTimeByModule)
{
    CallTreeOptions options;
    options.time = CallTime::Device;
    options.by = CallGrouping::Module;
    EXPECT_THAT(paths(treeOf(R"(
        main
          other "nn.Module: Linear_0" 0 20
          op aten::linear 0 20
          call cudaLaunchKernel 3 6 corr=1
        stream 0 7
          kernel gemm 100 50 corr=1
    )",
                             options)),
                ElementsAre("nn.Module: Linear_0 0/50 x1", "nn.Module: Linear_0;gemm 50/50 x1"));
}

/// A long trace: several blocks, with a call that spans all of them.
std::shared_ptr<const Trace> longTrace(std::int64_t steps)
{
    TraceBuilder builder;
    Track main, stream;
    main.kind = TrackKind::MainThread;
    stream.kind = TrackKind::Stream;
    const TrackId mainId = builder.addTrack(main), streamId = builder.addTrack(stream);
    std::vector<RawSlice> host, device;
    const auto add = [&](std::vector<RawSlice>& to, ActivityKind kind, const char* name, std::int64_t begin,
                         std::int64_t duration, std::int64_t link) {
        RawSlice slice;
        slice.kind = kind;
        slice.name = builder.intern(name).value;
        slice.begin = begin;
        slice.duration = duration;
        slice.link = link;
        to.push_back(slice);
    };
    add(host, ActivityKind::UserAnnotation, "run", 0, steps * 1000, 0);
    for (std::int64_t i = 0; i < steps; ++i) {
        const std::int64_t begin = i * 1000;
        add(host, ActivityKind::CpuOp, i % 3 == 0 ? "aten::conv2d" : "aten::linear", begin, 900, -1);
        add(host, ActivityKind::CpuOp, "aten::addmm", begin, 900, -1);
        add(host, ActivityKind::CudaRuntime, "cudaLaunchKernel", begin + 100, 200 + i % 50, i + 1);
        add(device, ActivityKind::Kernel, i % 5 == 0 ? "gemm" : "relu", begin + 400, 500, i + 1);
    }
    builder.addMany(mainId, std::move(host), Depth::Inferred);
    builder.addMany(streamId, std::move(device), Depth::Inferred);
    return builder.finish();
}

TEST(CallTree, IsTheSameHoweverManyThreadsBuildIt)
{
    const auto trace = longTrace(300'000); // 14 blocks of host slices
    for (const CallTime time : {CallTime::Host, CallTime::Device})
        for (const bool part : {false, true}) {
            CallTreeOptions options;
            options.time = time;
            if (part)
                options.scope.window = {{traceTime(1'000'500), traceTime(2'000'500)},
                                        {traceTime(100'000'000), traceTime(250'000'100)}};
            options.threads = 1;
            const CallTree one = callTree(*trace, options);
            expectSelfTimesAddUp(one);
            EXPECT_EQ(one.nodes[1].calls, part ? 0 : 1) << "the call that spans all blocks";
            if (time == CallTime::Host) {
                EXPECT_EQ(one.total(), part ? 151'000'100ns : 300'000'000ns);
            }
            options.threads = 3;
            double last = 0;
            options.progress = [&](double share) {
                EXPECT_GT(share, last);
                last = share;
            };
            const CallTree several = callTree(*trace, options);
            EXPECT_EQ(last, 1);
            EXPECT_EQ(paths(one), paths(several));
            for (std::size_t i = 0; i < one.nodes.size(); ++i)
                EXPECT_EQ(one.nodes[i].longest, several.nodes[i].longest);
        }
}

TEST(CallTree, AGrowingTraceWhoseBlocksOverlapGivesTheSameTree)
{
    TraceBuilder builder;
    test_support::TextFeeder feeder(builder);
    feeder.feed("main\n op inner 10 20\n call cudaLaunchKernel 12 3 corr=1\nstream 0 7\n kernel k 20 30 corr=1");
    (void)builder.snapshot();
    feeder.feed("main\n op outer 0 100\n op inner 40 20");
    const auto trace = builder.snapshot();
    const CallTree host = callTree(*trace, {});
    expectSelfTimesAddUp(host);
    EXPECT_THAT(paths(host),
                ElementsAre("outer 60/100 x1", "outer;inner 37/40 x2", "outer;inner;cudaLaunchKernel 3/3 x1"));
    CallTreeOptions options;
    options.time = CallTime::Device;
    EXPECT_THAT(paths(callTree(*trace, options)),
                ElementsAre("outer 0/30 x1", "outer;inner 0/30 x2", "outer;inner;k 30/30 x1"));
}

TEST(CallTree, AStopEndsIt)
{
    std::stop_source stop;
    CallTreeOptions options;
    options.progress = [&](double) { stop.request_stop(); };
    EXPECT_TRUE(callTree(*longTrace(300'000), options, stop.get_token()).empty());
}

TEST(CallTree, AnEmptyTraceHasOnlyTheRoot)
{
    EXPECT_THAT(paths(treeOf("")), IsEmpty());
}

} // namespace
} // namespace profiler::analysis
