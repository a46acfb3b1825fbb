// The saving from a change of host work with a device: all of it if the device waits for the host, and only the
// device's share if the host is ahead.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using testing::HasSubstr;

/// Ten steps of 1,000 µs in which the host does `host` and launches a matmul at 890 µs for which the device waits.
std::string hostCritical(std::string_view host, std::string_view device)
{
    return fmt::format(R"(
        device 0 "NVIDIA H100" "" sm=90
        main
          repeat 10 every 1000
            step 0 0 1000
            {}
            call cudaLaunchKernel 890 5 corr=900
          end
        stream 0 7
          repeat 10 every 1000
            {}
            kernel sgemm 900 80 corr=900
          end
    )",
                       host, device);
}

/// Ten steps of 1,000 µs in which the device is always busy: the host does `host` in the first 100 µs, launches a
/// matmul of 990 µs minus the time of `device` before it, and waits for the matmul of the previous step until 495 µs.
std::string deviceCritical(std::string_view host, std::string_view device, int deviceUs)
{
    return fmt::format(R"(
        device 0 "NVIDIA H100" "" sm=90
        main
          repeat 10 every 1000
            step 0 0 1000
            {}
            call cudaLaunchKernel 110 5 corr=900
            call cudaStreamSynchronize 150 345
          end
        stream 0 7
          kernel sgemm 0 490
          repeat 10 every 1000
            {}
            kernel sgemm {} {} corr=900
          end
    )",
                       host, device, 490 + deviceUs, 1000 - deviceUs);
}

void expectSaving(const Advice& advice, double low, double high)
{
    ASSERT_EQ(advice.state, advisor::State::Fires) << advice.reason;
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_NEAR(advice.saving->low, low, 0.01);
    EXPECT_NEAR(advice.saving->mid, (low + high) / 2, 0.1 * (high - low)); // nothing precedes the first step
    EXPECT_NEAR(advice.saving->high, high, 3);                             // and widens the interval of the mean
}

constexpr std::string_view kZeroing =
    "phase \"zero grad\" 0 100\nop aten::zero_ 0 20\ncall cudaLaunchKernel 10 5 corr=1\n"
    "op aten::zero_ 40 20\ncall cudaLaunchKernel 50 5 corr=2\n";

TEST(SavingsOnADevice, ZeroingCostsHostTimeIfTheDeviceWaits)
{
    const Judged judged("zero_grad_set_to_none",
                        hostCritical(kZeroing, "kernel fill 20 4 corr=1\nkernel fill 60 4 corr=2"));
    expectSaving(judged.advice(), 40, 100); // the fills, the whole phase
}

TEST(SavingsOnADevice, ZeroingCostsItsFillsIfTheHostIsAhead)
{
    const Judged judged("zero_grad_set_to_none",
                        deviceCritical(kZeroing, "kernel fill 490 5 corr=1\nkernel fill 495 5 corr=2", 10));
    expectSaving(judged.advice(), 10, 10);
}

TEST(SavingsOnADevice, AddingToGradientsIsAnUpperBound)
{
    const Judged judged("zero_grad_set_to_none",
                        hostCritical(std::string(kZeroing) + "phase backward 200 300\nop aten::add_ 300 30\n"
                                                             "call cudaLaunchKernel 310 5 corr=3",
                                     "kernel fill 20 4 corr=1\nkernel fill 60 4 corr=2\nkernel add 320 4 corr=3"));
    expectSaving(judged.advice(), 40, 130);
}

TEST(SavingsOnADevice, WithoutLaunchesItCannotBePredicted)
{
    std::string text = hostCritical(kZeroing, "kernel fill 20 4\nkernel fill 60 4");
    const Judged judged("zero_grad_set_to_none", text);
    ASSERT_EQ(judged.advice().state, advisor::State::Fires);
    EXPECT_FALSE(judged.advice().saving);
    EXPECT_THAT(judged.advice().whyNoPrediction, profiler::test::hasId("zero_grad.set_to_none.behind_other_work"));
}

TEST(SavingsOnADevice, ATensorMadeOnTheHostCostsTheFillAndAtMostTheCopy)
{
    const Judged blocking("tensors_create_on_device",
                          hostCritical("op aten::randn 0 100\nop aten::to 110 100\ncall cudaMemcpyAsync 120 50 corr=7",
                                       "copy HtoD 130 30 bytes=4096 src=pageable dst=device corr=7"));
    expectSaving(blocking.advice(), 100, 200);
    const Judged hidden("tensors_create_on_device",
                        deviceCritical("op aten::randn 0 60\nop aten::to 62 30\ncall cudaMemcpyAsync 70 5 corr=7",
                                       "copy HtoD 490 20 bytes=4096 src=pinned dst=device corr=7", 20));
    expectSaving(hidden.advice(), 0, 20); // the host's part is hidden
}

TEST(SavingsOnADevice, ABlockingCopyCostsTheWait)
{
    const std::string device = "copy HtoD 0 100 bytes=1000000 src=pinned dst=device corr=5";
    const Judged judged("transfer_non_blocking",
                        hostCritical("call cudaMemcpyAsync 0 60 corr=5\ncall cudaStreamSynchronize 61 40", device));
    expectSaving(judged.advice(), 40, 40); // enqueuing it takes the host 60 in any case
}

TEST(SavingsOnADevice, ACheckpointStillCopiesFromTheDevice)
{
    const Judged judged("host_async_work",
                        hostCritical("phase checkpoint 100 300\ncall cudaMemcpyAsync 100 50 corr=9",
                                     "copy DtoH 110 35 bytes=1000000 src=device dst=pageable corr=9"));
    expectSaving(judged.advice(), 0, 250); // nothing of the rest, or all of it
}

TEST(SavingsOnADevice, TheAutogradProfilerCostsAtMostTwiceTheTimeOutsidePhases)
{
    const std::string phases = "phase forward 0 400\nphase backward 600 400";
    const Judged waited("debug_autograd_profiler", hostCritical(phases, ""), {"debug.autograd_profiler=true"});
    ASSERT_TRUE(waited.advice().saving) << waited.advice().whyNoPrediction;
    EXPECT_EQ(waited.advice().saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_NEAR(waited.advice().saving->high, 400, 3);
    const Judged ahead("debug_autograd_profiler", deviceCritical("phase forward 0 50", "", 0),
                       {"debug.autograd_profiler=true"});
    ASSERT_TRUE(ahead.advice().saving) << ahead.advice().whyNoPrediction;
    EXPECT_NEAR(ahead.advice().saving->high, 0, 3) << "the device hides all of it";
}

TEST(SavingsOnADevice, WithoutItsChecksAnomalyDetectionWouldNotWait)
{
    const Judged judged(
        "debug_anomaly",
        hostCritical("phase backward 500 300\nop aten::isnan 600 20\ncall cudaLaunchKernel 605 5 corr=3\n"
                     "op aten::item 620 80\ncall cudaMemcpyAsync 630 8 corr=4\n"
                     "call cudaStreamSynchronize 640 58",
                     "kernel isnan 612 3 corr=3\ncopy DtoH 640 50 bytes=1 corr=4"),
        {"debug.anomaly=true"});
    ASSERT_EQ(judged.advice().state, advisor::State::Fires);
    EXPECT_FALSE(judged.advice().saving) << "the time to record call sites is not in the trace";
    EXPECT_THAT(judged.advice().whyNoPrediction,
                profiler::test::hasIdAndPart("debug.anomaly.checks_only", "time", "100 µs"));
}

} // namespace
} // namespace advisor_test
