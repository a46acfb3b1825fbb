#include "profiler/analysis/replay/replay.h"

#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::DoubleNear;
using testing::Each;

/// Three steps of 100 µs on a GPU: the host launches a kernel of 40 µs, waits for it to read back a value, and then
/// works for 30 µs.
constexpr std::string_view kReadsBack = R"(
    main
      repeat 3 every 100
        step 0 0 100
        call cudaLaunchKernel 10 5 corr=1
        call cudaStreamSynchronize 20 40
        phase log 70 30
      end
    stream 0 7
      repeat 3 every 100
        kernel k 18 40 corr=1
      end
)";

double replayedUs(const Trace& trace, const WhatIf& whatIf = {}, const std::function<bool(const SliceView&)>& cut = {})
{
    return static_cast<double>(ReplayGraph::of(trace, findSteps(trace), cut).replay(whatIf).duration.count()) / 1000;
}

WhatIf scaling(const Trace& trace, std::string_view name, double factor)
{
    return [&trace, name, factor](const ReplayWork& work) {
        return ReplayChange{.factor = trace.string(work.name) == name ? factor : 1};
    };
}

TEST(Replay, WithoutAChangeReproducesTheTrace)
{
    const auto trace = traceFromText(kReadsBack);
    const ReplayGraph graph = ReplayGraph::of(*trace, findSteps(*trace));
    const Replayed replayed = graph.replay();
    EXPECT_EQ(replayed.duration, trace->range().duration());
    EXPECT_THAT(replayed.stepUs, testing::ElementsAre(100, 100, 100));
    EXPECT_DOUBLE_EQ(graph.linkedShare(), 1);
}

TEST(Replay, AShorterKernelShortensTheWaitForIt)
{
    const auto trace = traceFromText(kReadsBack);
    // Starts at 18 and ends at 38 instead of 58; the wait ends 2 µs later.
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "k", 0.5)), 240);
    // Not shorter than the host's own work.
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "k", 0)), 180);
}

TEST(Replay, WithoutReadingBackTheHostRunsAhead)
{
    const auto trace = traceFromText(kReadsBack);
    const double us = replayedUs(*trace, [&](const ReplayWork& work) {
        const bool sync = trace->string(work.name) == "cudaStreamSynchronize";
        return ReplayChange{.factor = sync ? 0.0 : 1.0, .waits = !sync};
    });
    // The host takes 60 µs per step: 10 + 5 + 5 (before the wait) + 10 + 30.
    EXPECT_DOUBLE_EQ(us, 180);
}

TEST(Replay, RemovingHostWorkSavesItsTimeIfTheDeviceIsNotTheLimit)
{
    const auto trace = traceFromText(kReadsBack);
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "log", 0)), 210);
}

TEST(Replay, NonBlockingWorkLetsTheThreadContinue)
{
    const auto trace = traceFromText(kReadsBack);
    const Replayed replayed = ReplayGraph::of(*trace, findSteps(*trace)).replay([&](const ReplayWork& work) {
        return ReplayChange{.blocks = trace->string(work.name) != "log"};
    });
    // The last one must still be done.
    EXPECT_EQ(replayed.duration, std::chrono::microseconds(240));
}

TEST(Replay, BackToBackKernelsKeepTheirOrderAndTheirGap)
{
    // Launched long before they run: the second and third start 1 µs after the previous one.
    const auto trace = traceFromText(R"(
        main
          step 0 0 200
          call cudaLaunchKernel 0 1 corr=1
          call cudaLaunchKernel 2 1 corr=2
          call cudaLaunchKernel 4 1 corr=3
          call cudaDeviceSynchronize 6 190
        stream 0 7
          kernel a 10 50 corr=1
          kernel b 61 50 corr=2
          kernel c 112 50 corr=3
    )");
    EXPECT_DOUBLE_EQ(replayedUs(*trace), 200);
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "b", 0)), 150);
}

TEST(Replay, AWaitForABatchEndsWhenTheBatchIsReady)
{
    const auto trace = traceFromText(R"(
        main
          repeat 4 every 100
            step 0 0 100
            phase "data wait" 0 60
          end
        worker 0
          repeat 4 every 100
            stage decode 0 59
          end
    )");
    const double us = replayedUs(*trace, [&](const ReplayWork& work) {
        return ReplayChange{.factor = work.where == ReplayWork::Where::Loader && work.name.value != 0 ? 0.5 : 1.0};
    });
    EXPECT_LT(us, 400);
    EXPECT_GE(us, 4 * 40); // the compute time of the steps
}

TEST(Replay, ABlockingCopyEndsWithItsCopy)
{
    const auto trace = traceFromText(R"(
        main
          step 0 0 100
          call cudaMemcpyAsync 10 60 corr=1
        stream 0 7
          copy HtoD 20 45 corr=1
    )");
    EXPECT_DOUBLE_EQ(replayedUs(*trace), 100);
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "Memcpy HtoD", 0)), 55);
}

/// The remaining time without a copy of 45 µs that ends before its call of 60 µs: 55 µs if the call waited for it.
double withoutCopyUs(std::string_view call, std::string_view copy, std::string_view more)
{
    const auto trace = traceFromText(
        fmt::format("main\nstep 0 0 100\ncall {} 10 60 corr=1\nstream 0 7\ncopy {} 20 45 corr=1 {}", call, copy, more));
    EXPECT_DOUBLE_EQ(replayedUs(*trace), 100);
    return replayedUs(*trace, scaling(*trace, fmt::format("Memcpy {}", copy), 0));
}

TEST(Replay, ACopyThatDoesNotBlockDoesNotDelayItsCall)
{
    // On an idle device, the copy ends before its call does.
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "DtoD", "bytes=4 src=device dst=device"), 100);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpy", "DtoD", "bytes=4 src=device dst=device"), 100);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyPeerAsync", "PtoP", "bytes=4 src=device dst=device"), 100);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "HtoD", "bytes=65536 src=pageable dst=device"), 100);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "HtoD", "bytes=1000000 src=pinned dst=device"), 100);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "DtoH", "bytes=4 src=device dst=pinned"), 100);

    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "HtoD", "bytes=65537 src=pageable dst=device"), 55);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpyAsync", "DtoH", "bytes=4 src=device dst=pageable"), 55);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpy", "HtoD", "bytes=1000000 src=pinned dst=device"), 55);
    EXPECT_DOUBLE_EQ(withoutCopyUs("cudaMemcpy", "DtoH", "bytes=4 src=device dst=pinned"), 55);
}

TEST(Replay, AutogradsThreadIsInTheSequenceOfTheMainThread)
{
    const auto trace = traceFromText(R"(
        main
          step 0 0 100
          phase forward 0 30
          phase backward 30 60
        thread autograd
          call cudaLaunchKernel 40 20 corr=1
        stream 0 7
          kernel k 45 20 corr=1
    )");
    EXPECT_DOUBLE_EQ(replayedUs(*trace), 100);
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "forward", 0)), 70);
}

TEST(Replay, OperatorsAreSeparatePiecesOnRequest)
{
    const auto trace =
        traceFromText("main\nstep 0 0 100\nphase forward 0 100\nop aten::zero_ 20 30\nop aten::add 60 10");
    const auto isZero = [](const SliceView& slice) { return slice.name() == "aten::zero_"; };
    EXPECT_DOUBLE_EQ(replayedUs(*trace, scaling(*trace, "aten::zero_", 0), isZero), 70);
}

TEST(Replay, AClockThatGoesBackwardsDoesNotHangIt)
{
    const auto trace = traceFromText(R"(
        main
          call cudaLaunchKernel 50 5 corr=1
          call cudaStreamSynchronize 60 20
        stream 0 7
          kernel k 10 5 corr=1
    )");
    EXPECT_DOUBLE_EQ(replayedUs(*trace), 70);
    EXPECT_EQ(ReplayGraph::of(*traceFromText(""), {}).replay().duration.count(), 0);
}

/// Less work never takes longer, for any trace.
TEST(Replay, IsMonotonic)
{
    std::mt19937 random(7);
    const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
    for (int round = 0; round < 50; ++round) {
        std::string host = "main\nstep 0 0 100000\n", streams[2] = {"stream 0 7\n", "stream 0 8\n"};
        int now = 0, free[2] = {0, 0};
        for (int i = 1; i <= 40; ++i) {
            now += upTo(20);
            const int duration = upTo(10), stream = upTo(2) - 1;
            host += "call cudaLaunchKernel " + std::to_string(now) + " " + std::to_string(duration) +
                    " corr=" + std::to_string(i) + "\n";
            const int begin = std::max(now + upTo(8), free[stream]), kernel = upTo(60);
            streams[stream] += "kernel k" + std::to_string(i) + " " + std::to_string(begin) + " " +
                               std::to_string(kernel) + " corr=" + std::to_string(i) + "\n";
            free[stream] = begin + kernel;
            now += duration;
            if (upTo(5) == 1) {
                const int end = std::max({now + 1, free[0], free[1]}) + upTo(3);
                host += "call cudaDeviceSynchronize " + std::to_string(now) + " " + std::to_string(end - now) + "\n";
                now = end;
            }
        }
        const auto trace = traceFromText(host + streams[0] + streams[1]);
        const ReplayGraph graph = ReplayGraph::of(*trace, {});
        ASSERT_EQ(graph.replay().duration, trace->range().duration());
        double less = 1;
        Nanoseconds before = graph.replay().duration;
        for (; less >= 0; less -= 0.25) {
            const Nanoseconds after = graph
                                          .replay([&](const ReplayWork& work) {
                                              return ReplayChange{.factor = work.slice.ordinal % 3 == 0 ? less : 1};
                                          })
                                          .duration;
            EXPECT_LE(after, before);
            before = after;
        }
    }
}

TEST(Replay, SavingsCoverSteadySteps)
{
    std::vector<Step> steps(3);
    steps[0].warmup = true;
    EXPECT_THAT(savedPerStep(steps, {{}, {10, 20, 30}}, {{}, {1, 15, 20}}), testing::ElementsAre(5, 10));
}

TEST(CriticalPath, FollowsTheBindingDependencies)
{
    const auto trace = traceFromText(kReadsBack);
    const CriticalPath path = criticalPath(*trace, ReplayGraph::of(*trace, findSteps(*trace)));
    EXPECT_EQ(path.total(), trace->range().duration());
    EXPECT_EQ(path.device, std::chrono::microseconds(120)); // all kernels, because the host waits for each of them
    EXPECT_EQ(path.latency, std::chrono::microseconds(3 * (8 + 2)));
    ASSERT_FALSE(path.byName.empty());
    EXPECT_EQ(path.byName.front().name, "k");
    for (std::size_t i = 1; i < path.pieces.size(); ++i)
        EXPECT_EQ(path.pieces[i - 1].range.end, path.pieces[i].range.begin);
}

TEST(CriticalPath, ExcludesWorkHiddenByOtherWork)
{
    const auto trace = traceFromText(R"(
        main
          step 0 0 100
          call cudaLaunchKernel 0 2 corr=1
          call cudaLaunchKernel 2 2 corr=2
          call cudaDeviceSynchronize 4 96
        stream 0 7
          kernel long 5 90 corr=1
        stream 0 8
          kernel short 6 20 corr=2
    )");
    const CriticalPath path = criticalPath(*trace, ReplayGraph::of(*trace, findSteps(*trace)));
    const auto has = [&](std::string_view name) {
        return std::any_of(path.byName.begin(), path.byName.end(), [&](const auto& row) { return row.name == name; });
    };
    EXPECT_TRUE(has("long"));
    EXPECT_FALSE(has("short"));
    const CriticalPath part =
        criticalPath(*trace, ReplayGraph::of(*trace, {}),
                     {{traceTime(10'000), traceTime(20'000)}, {traceTime(90'000), traceTime(98'000)}});
    EXPECT_EQ(part.total(), std::chrono::microseconds(10 + 8));
    ASSERT_GE(part.pieces.size(), 2U);
    EXPECT_EQ(part.pieces.front().range.begin, traceTime(10'000));
    EXPECT_EQ(part.pieces.back().range.end, traceTime(98'000));
}

/// A host that launches `queued` kernels, 1 µs apart, and is then blocked: each further launch takes about as long as
/// the kernel that makes room for it. The device is always busy.
std::string fullQueue(int queued)
{
    std::string host = "main\n", device = "stream 0 7\n";
    constexpr int kKernels = 1500;
    for (int i = 0; i < kKernels; ++i) {
        const bool blocked = i >= queued;
        // The launch of kernel i returns when kernel i - queued has started.
        const double begin = blocked ? 10 + 100.0 * (i - queued) : i * 1.0;
        host += fmt::format("call cudaLaunchKernel {} {} corr={}\n", begin, blocked ? 95.0 : 0.5, i + 1);
        device += fmt::format("kernel sgemm {} 100 corr={}\n", 5 + 100 * i, i + 1);
    }
    return host + device;
}

TEST(Replay, ALaunchDelayedByAFullQueueIsNotHostWork)
{
    const auto duration = [](int queued, double factor) {
        const auto trace = traceFromText(fullQueue(queued));
        const ReplayGraph graph = ReplayGraph::of(*trace, {});
        return toUs(graph
                        .replay([factor](const ReplayWork& work) {
                            return ReplayChange{.factor = work.where == ReplayWork::Where::Device ? factor : 1};
                        })
                        .duration);
    };
    EXPECT_NEAR(duration(500, 1), 150'005, 1) << "without a change";
    EXPECT_LT(duration(500, 0), 20'000) << "without kernels, no launch is delayed";
    // The same calls with few kernels in the queue: they are slow for another reason, which remains.
    EXPECT_GT(duration(200, 0), 120'000);
}

} // namespace
} // namespace profiler::analysis
