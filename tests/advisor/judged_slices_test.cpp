#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

/// Rules that compare two figures take both from the same slices: from the same steps and the same device.
namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using testing::AllOf;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::Not;

Advice judge(std::string_view stem, const std::string& text)
{
    return Judged(stem, text, {}, true).advice();
}

/// Ten steps of 1,000 µs in which two devices do this.
std::string twoDevices(const std::string& first, const std::string& second)
{
    return fmt::format("device 0 gpu\ndevice 1 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n"
                       "phase backward 100 300\ncall cudaMemcpy 0 101 corr=5\nend\nstream 0 7\n"
                       "repeat 10 every 1000\n{}\nend\nstream 1 7\nrepeat 10 every 1000\n{}\nend\n",
                       first, second);
}

TEST(CommExposed, ComputeOnAnotherDeviceHidesNothing)
{
    const Advice advice =
        judge("comm_exposed", twoDevices("kernel sgemm 0 500\nkernel ncclDevKernel_AllReduce 500 200",
                                         "kernel ncclDevKernel_AllReduce 100 200\nkernel sgemm 300 500"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.2, 1e-6)));
    EXPECT_THAT(advice.reason, HasNumber("overlap", 0));
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->mid, 200, 1e-9) << "a mean over the devices, which wait side by side";
}

TEST(CommExposed, ComputeOnAnotherStreamOfTheDeviceHidesIt)
{
    const Advice advice =
        judge("comm_exposed", twoDevices("kernel sgemm 0 900", "kernel sgemm 0 900") +
                                  "stream 0 8\nrepeat 10 every 1000\nkernel ncclDevKernel_AllReduce 500 200\nend\n");
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(CommBuckets, ExchangesOfTwoDevicesAreNotTwiceAsMany)
{
    std::string exchanges;
    for (int i = 0; i < 30; ++i)
        exchanges += fmt::format("kernel ncclDevKernel_AllReduce {} 4\n", 500 + 5 * i);
    const Advice advice = judge("comm_buckets", twoDevices(exchanges, exchanges));
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason, HasId("comm.buckets.few"));
    EXPECT_THAT(advice.reason, HasNumber("kernels", 30));
}

TEST(TransferNonBlocking, ComputeOnAnotherDeviceHidesNothing)
{
    const std::string copy = "copy HtoD 0 100 bytes=1000 src=pinned dst=device corr=5\nkernel sgemm 200 500";
    const Advice advice = judge("transfer_non_blocking", twoDevices(copy, "kernel sgemm 0 900"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->mid, 100, 1e-9);
}

TEST(LoaderPinMemory, ConcurrentCopiesToSeveralDevicesTakeTheirMean)
{
    const auto text = [](double us) {
        const std::string device = fmt::format("copy HtoD 0 {} bytes=100000 src=pageable dst=device\n"
                                               "copy HtoD 800 {} bytes=100000 src=pinned dst=device\n"
                                               "kernel sgemm 200 500",
                                               us, us / 2);
        return twoDevices(device, device);
    };
    EXPECT_EQ(judge("loader_pin_memory", text(4.8)).state, State::Silent);
    const Advice advice = judge("loader_pin_memory", text(20));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasNumber("devices", 2), HasNumber("time", 20)));
    EXPECT_NEAR(advice.timeShare, 0.02, 1e-9);
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound) << "no launches are recorded";
    EXPECT_NEAR(advice.saving->high, 20, 1e-9);
}

/// Ten steps with the kernel of a convolution; `ops` are on the main thread. Autotuning is off.
Advice tuning(const std::string& ops)
{
    return Judged("cudnn_benchmark",
                  "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\n" + ops +
                      "stream 0 7\nrepeat 10 every 1000\nkernel volta_scudnn_128x64 0 900\nend\n",
                  {"device=cuda", "cudnn.benchmark=false"})
        .advice();
}

std::string convolutionAt(int us, int batch)
{
    return fmt::format("op aten::_convolution {} 50 shapes=\"[[{}, 3, 8, 8], [64, 3, 7, 7], []]\"\n"
                       "op aten::_convolution {} 50 shapes=\"[[{}, 64, 4, 4], [64, 64, 3, 3], []]\"\n",
                       us, batch, us + 100, batch);
}

TEST(CudnnBenchmark, StepsWithoutRecordedOperatorsDoNotCountAsOtherShapes)
{
    const Advice advice = tuning(convolutionAt(2000, 32) + convolutionAt(3000, 32));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("cudnn.benchmark.fixed_shapes"));
    ASSERT_TRUE(advice.toggle);
}

TEST(CudnnBenchmark, ValidationAndASmallLastBatchAreNotVaryingShapes)
{
    const Advice advice = tuning("phase validation 4000 900\n" + convolutionAt(2000, 32) + convolutionAt(3000, 32) +
                                 convolutionAt(4000, 256) + convolutionAt(4300, 200) + convolutionAt(9000, 7) +
                                 convolutionAt(11000, 500));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("cudnn.benchmark.fixed_shapes"));
}

TEST(CudnnBenchmark, ShapesThatChangeFromStepToStepVary)
{
    const Advice advice = tuning(convolutionAt(2000, 32) + convolutionAt(3000, 40) + convolutionAt(4000, 48));
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("cudnn.benchmark.shapes_vary"));
}

TEST(CudnnBenchmark, SaysNothingAboutUnrecordedShapes)
{
    for (const std::string ops : {"", "op aten::_convolution 2000 50\nop aten::_convolution 3000 50\n"}) {
        const Advice advice = tuning(ops);
        EXPECT_EQ(advice.state, State::Fires) << advice.reason;
        EXPECT_THAT(advice.reason, HasId("cudnn.benchmark.heuristics")) << ops;
    }
}

TEST(Attention, AttentionInValidationDoesNotCount)
{
    const auto judged = [](int productUs) {
        return judge("attention",
                     fmt::format("main\nrepeat 5 every 1000\nstep 0 0 1000\nop aten::mm 0 700\nop aten::bmm 700 {0}\n"
                                 "op aten::softmax 800 {0}\nop aten::bmm 900 {0}\nend\nphase validation 5000 3000\n"
                                 "op aten::bmm 5000 900\nop aten::softmax 6000 900\nop aten::bmm 7000 900\n",
                                 productUs));
    };
    EXPECT_EQ(judged(4).state, State::Silent) << judged(4).reason; // 12 of 712 µs
    const Advice found = judged(10);
    EXPECT_EQ(found.state, State::Fires) << found.reason;
    EXPECT_THAT(found.reason, profiler::test::hasId("attention.written_out", {{"count", 4}}));
    EXPECT_THAT(found.reason, profiler::test::hasPart("share", "4.11 %")); // 30 of 730 µs
}

TEST(Attention, WithoutStepsTheWholeTraceCounts)
{
    const Advice found = judge(
        "attention", "main\nop aten::mm 0 700\nop aten::bmm 700 10\nop aten::softmax 800 10\nop aten::bmm 900 10");
    EXPECT_EQ(found.state, State::Fires) << found.reason;
    EXPECT_THAT(found.reason, profiler::test::hasIdAndPart("attention.written_out", "share", "4.11 %"));
}

/// Ten steps with a matmul; `more` runs after it.
std::string behindTheSteps(const std::string& each, const std::string& more)
{
    return fmt::format("device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                       "repeat 10 every 1000\nkernel sgemm_nt 0 500\n{}\nend\n{}\n",
                       each, more);
}

TEST(Attention, KernelsAfterTheStepsDoNotCount)
{
    const Advice advice =
        judge("attention", behindTheSteps("", "kernel sgemm_nt 11000 900\nkernel softmax_warp_forward 12000 900\n"
                                              "kernel sgemm_nt 13000 900"));
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(FusePointwise, WhatWouldGoIsOfTheKernelTimeBesideIt)
{
    const Advice advice =
        judge("fuse_pointwise",
              behindTheSteps("kernel elementwise_kernel_a 500 200\nkernel elementwise_kernel_b 700 100",
                             "kernel elementwise_kernel_a 11000 5000\nkernel elementwise_kernel_b 16000 5000"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    // The first step is warm-up: nine steps of 800 µs, and one kernel in each would no longer run.
    EXPECT_THAT(advice.reason, profiler::test::hasId("fuse.pointwise.runs", {{"kernels", 18}, {"runs", 9}}));
    EXPECT_THAT(advice.caveats,
                testing::Contains(testing::AllOf(test_support::HasId("fuse.pointwise.longest"),
                                                 test_support::HasNumber("time", testing::DoubleNear(900, 1e-6)),
                                                 test_support::HasNumber("all", testing::DoubleNear(7200, 1e-6)))));
}

/// `count` epochs of 5,000 µs: their workers start in 100 µs, those of the validation after the steps in 1,500 µs.
Advice startsOfWorkers(int count)
{
    return judge("loader_persistent_workers",
                 fmt::format("main\nrepeat {} every 5000\nphase \"start workers\" 0 100\nphase \"data wait\" 1000 5\n"
                             "phase \"data wait\" 1100 5\nphase \"data wait\" 1200 5\nphase validation 2000 2500\n"
                             "phase \"start workers\" 2000 1500\nphase \"data wait\" 3500 700\nend\n"
                             "repeat 3 every 100\nstep 0 1000 100\nend\n",
                             count));
}

TEST(LoaderPersistentWorkers, ValidationWorkersAreNotThoseOfAnEpoch)
{
    const Advice advice = startsOfWorkers(4);
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasNumber("time", 100));
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    // Between the validation and the next start, the previous workers exit.
    EXPECT_DOUBLE_EQ(advice.saving->high, 100 + 500);
    EXPECT_EQ(advice.evidence.size(), 3U) << "the first epoch has to start them anyway";
}

TEST(LoaderPersistentWorkers, AProgramWithUnrecordedLoadingMayHaveWorkers)
{
    const auto recorded = [](std::string_view more) {
        return judge("loader_persistent_workers",
                     fmt::format("format stepscope\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}\nend\n", more));
    };
    EXPECT_EQ(recorded("nvtx load 0 100").state, State::CannotTell);
    const Advice advice = recorded("phase \"data wait\" 0 100");
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(DebugTools, ChecksOfTheFirstStepAreMeasuredPerEpoch)
{
    const auto measure = [](std::string_view stem, const std::string& assignment) {
        return Judged(stem, "main\nrepeat 5 every 100\nstep 0 0 100\nend", {assignment}).advice().measure;
    };
    EXPECT_EQ(measure("debug_gradcheck", "debug.gradcheck=true"), "epoch");
    EXPECT_EQ(measure("debug_gradgradcheck", "debug.gradgradcheck=true"), "epoch");
    EXPECT_EQ(measure("debug_autograd_profiler", "debug.autograd_profiler=true"), "steps");
}

/// Two busy devices, with what the driver reports about the clocks of the second one in twenty samples.
Advice reasons(const std::vector<unsigned>& bits)
{
    std::string text = "main\nstep 0 0 1000\nstream 0 7\nkernel a 0 900\nstream 1 7\nkernel a 0 900\n"
                       "counter \"GPU 0 throttle reasons\"\nsample 0 0\ncounter \"GPU 1 throttle reasons\"\n";
    for (std::size_t i = 0; i < bits.size(); ++i)
        text += fmt::format("sample {} {}\n", 40 * i, bits[i]);
    return judge("thermal_throttling", text);
}

/// `count` samples with these reasons among samples without any.
std::vector<unsigned> among(std::size_t samples, std::size_t count, unsigned bits)
{
    std::vector<unsigned> all(samples);
    std::fill(all.end() - static_cast<std::ptrdiff_t>(count), all.end(), bits);
    return all;
}

TEST(ThermalThrottling, FiresFromFivePercentOfTheSamplesOfAnyDevice)
{
    for (const unsigned heat : {0x20U, 0x40U, 0x48U}) {
        const Advice advice = reasons(among(20, 1, heat));
        ASSERT_EQ(advice.state, State::Fires) << advice.reason;
        EXPECT_THAT(advice.reason, AllOf(HasId("thermal.throttling.heat"), HasNumber("share", DoubleEq(0.05))));
        EXPECT_EQ(advice.evidence.front().name, "GPU 1 throttle reasons");
        EXPECT_EQ(reasons(among(21, 1, heat)).state, State::Silent);
    }
}

TEST(ThermalThrottling, APowerCapIsNotHeat)
{
    const Advice capped = reasons(among(4, 3, 0x4));
    EXPECT_EQ(capped.state, State::Silent);
    EXPECT_THAT(capped.reason, AllOf(HasId("thermal.throttling.other_reason"), HasNumber("share", DoubleEq(0.75)),
                                     HasText("reasons", "power cap")));
}

TEST(ThermalThrottling, AnIdleDeviceSavesPower)
{
    EXPECT_THAT(reasons({0x1, 0x1}).reason, HasId("thermal.throttling.rare")) << "the other device was at work";
    const Advice half = reasons({0x1, 0x1, 0x20, 0});
    ASSERT_EQ(half.state, State::Fires);
    EXPECT_THAT(half.reason, HasNumber("share", DoubleEq(0.5))) << "idle samples do not count";
}

TEST(ThermalThrottling, ATemperatureDoesNotShowWhatLimitedTheClocks)
{
    const auto with = [](const std::string& counter) {
        return judge("thermal_throttling",
                     "main\nstep 0 0 1000\nstream 0 7\nkernel a 0 900\ncounter \"GPU 0 " + counter);
    };
    const Advice hot = with("temperature\"\nsample 0 95\ncounter \"GPU 0 clock\"\nsample 0 1700\nsample 500 600\n");
    EXPECT_EQ(hot.state, State::CannotTell);
    EXPECT_THAT(hot.reason, HasId("thermal.throttling.temperature_only"));
    const Advice held = with("throttled\"\nsample 0 1\n");
    EXPECT_EQ(held.state, State::CannotTell);
    EXPECT_THAT(held.reason, HasId("thermal.throttling.no_reason"));
}

} // namespace
} // namespace advisor_test
