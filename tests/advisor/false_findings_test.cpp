#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Traces in which rules once reported false findings.
namespace advisor_test {
namespace {

using advisor::State;

TEST(HostBound, StepMarksAheadOfABusyDeviceAreNotIdleTime)
{
    const auto advice =
        judge("host_bound", "device 0 gpu\nmain\nrepeat 3 every 2000\nstep 0 0 2000\nop aten::mm 0 1900\n"
                            "call cudaLaunchKernel 1800 10\nend\nstream 0 7\nkernel a 1820 150000");
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(HostBound, WorkBeforeTheFirstKernelIsNotAGap)
{
    const auto advice =
        judge("host_bound", "device 0 gpu\nmain\nstep 0 0 1000\nop aten::mm 0 590\n"
                            "call cudaLaunchKernel 580 10\nstream 0 7\nkernel a 590 200\nkernel a 800 200");
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(HostBound, ADeviceThatHardlyWorksDoesNotWait)
{
    const auto text = [](double secondUs) {
        return fmt::format("device 0 gpu\ndevice 1 gpu\nmain\nrepeat 10 every 100\nstep 0 0 100\nop aten::mm 0 99\n"
                           "call cudaLaunchKernel 1 5\nend\nstream 0 7\nrepeat 10 every 100\nkernel a 0 99\nend\n"
                           "stream 1 7\nmemset clear 10 {}\nmemset clear 990 5",
                           secondUs);
    };
    EXPECT_EQ(judge("host_bound", text(2)).state, State::Silent) << judge("host_bound", text(2)).reason;
    EXPECT_EQ(judge("host_bound", text(300)).state, State::Fires) << judge("host_bound", text(300)).reason;
}

TEST(HostBound, AServerThatWaitsForRequestsIsNotHostBound)
{
    const auto advice = judge("host_bound", "device 0 gpu\nmain\nrepeat 10 every 100\ncall cudaLaunchKernel 0 2\nend\n"
                                            "stream 0 7\nrepeat 10 every 100\nkernel a 2 20\nend");
    EXPECT_EQ(advice.state, State::CannotTell) << advice.reason;
    EXPECT_THAT(advice.reason, profiler::test::hasId("host.bound.unrecorded"));
}

TEST(HostBound, AFewKernelsWithoutStepsShowNoPattern)
{
    const auto program = [](int kernels) {
        return fmt::format(
            "device 0 gpu\nmain\nrepeat {0} every 100\nop aten::mm 0 99\ncall cudaLaunchKernel 90 1\nend\n"
            "stream 0 7\nrepeat {0} every 100\nkernel a 92 5\nend",
            kernels);
    };
    for (const char* const rule : {"host_bound", "compile"}) {
        const auto few = judge(rule, program(19));
        EXPECT_EQ(few.state, State::CannotTell) << rule << ": " << few.reason;
        EXPECT_THAT(few.reason, profiler::test::hasId("device.few_kernels"));
        EXPECT_EQ(judge(rule, program(20)).state, State::Fires) << rule;
    }
}

/// A request every 100 µs: operators and launches for `busyUs`, then kernels, then nothing.
std::string requests(int busyUs, int kernelUs)
{
    return fmt::format("device 0 gpu\nmain\nrepeat 20 every 100\nop aten::mm 0 {}\ncall cudaLaunchKernel {} 1\nend\n"
                       "stream 0 7\nrepeat 20 every 100\nkernel a {} {}\nend",
                       busyUs, busyUs - 1, busyUs, kernelUs);
}

TEST(HostBound, AServerThatLaunchesLittleAndWaitsIsNotHostBound)
{
    const auto advice = judge("host_bound", requests(20, 10)); // idle for 90 % of the time, a fifth of it because of
                                                               // the host
    EXPECT_EQ(advice.state, State::CannotTell) << advice.reason;
    EXPECT_THAT(advice.reason, profiler::test::hasId("host.bound.unrecorded"));
    EXPECT_EQ(judge("compile", requests(20, 10)).state, State::Silent);
}

TEST(HostBound, AProgramWithoutStepsGetsNoFigurePerStep)
{
    const auto advice = judge("host_bound", requests(70, 20));
    EXPECT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, test_support::HasId("host.bound.without_steps"));
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, profiler::test::hasId("steps.none.consequence"));
}

TEST(HostBound, TheSavingIsExactlyTheSumInTheReason)
{
    const auto advice = judge("host_bound", "device 0 gpu\nmain\nrepeat 10 every 100\nstep 0 0 100\nop aten::mm 50 30\n"
                                            "call cudaLaunchKernel 78 1\nend\nstream 0 7\nrepeat 10 every 100\n"
                                            "kernel a 80 20\nend");
    ASSERT_TRUE(advice.saving) << advice.reason;
    EXPECT_NEAR(advice.saving->high, 30, 1e-9) << "launching; before that no event says why the device idles";
    EXPECT_THAT(advice.reason, test_support::HasNumber("share", testing::DoubleNear(0.3, 0.03)));
    EXPECT_THAT(advice.caveats,
                testing::Contains(testing::AllOf(test_support::HasId("host.bound.unknown_rest"),
                                                 test_support::HasNumber("share", testing::DoubleNear(0.5, 0.05)))));
}

constexpr std::string_view kUpload = "repeat 20 every 100\ncopy HtoD 0 90 bytes=1000000 src=pageable dst=device\nend\n"
                                     "copy HtoD 2000 10 bytes=1000 src=pinned dst=device\n";

TEST(Copies, UploadingTheWeightsIsNotAFindingWithoutSteps)
{
    const std::string copies = fmt::format("device 0 gpu\nstream 0 7\n{}", kUpload);
    // With operators, it is training. In a plain program, every copy counts.
    const std::string computed = "main\nop aten::mm 0 1\n" + copies + "repeat 50 every 100\nkernel a 2020 99\nend";
    for (const std::string_view rule : {"loader_pin_memory", "transfer_non_blocking"}) {
        EXPECT_EQ(judge(rule, computed).state, State::Silent) << rule << judge(rule, computed).reason;
        EXPECT_EQ(judge(rule, copies).state, State::CannotTell) << rule << judge(rule, copies).reason;
    }
}

TEST(TransferNonBlocking, PageableCopiesAreNotOrderedAhead)
{
    const auto advice =
        judge("transfer_non_blocking", "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                                       "repeat 10 every 1000\ncopy HtoD 0 100 bytes=100000 src=pageable dst=device\n"
                                       "copy HtoD 110 5 bytes=100 src=pinned dst=device\nkernel a 120 800\nend");
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
}

TEST(HostBound, IsReportedDespiteALongerCause)
{
    const auto advice = judge(
        "host_bound",
        "device 0 gpu\nmain\nrepeat 10 every 100\nstep 0 0 100\nphase \"data wait\" 0 40\n"
        "op aten::mm 40 25\ncall cudaLaunchKernel 60 5\nend\nstream 0 7\nrepeat 10 every 100\nkernel a 65 34\nend");
    EXPECT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, test_support::HasId("host.bound.part"));
}

TEST(PinMemory, CopiesOfUnknownSizeAreNotCalledSmall)
{
    const auto advice = judge("loader_pin_memory", "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\n"
                                                   "stream 0 7\nrepeat 10 every 1000\ncopy HtoD 0 100 src=pageable "
                                                   "dst=device\nkernel a 120 800\nend");
    EXPECT_EQ(advice.state, State::CannotTell) << advice.reason;
    EXPECT_THAT(advice.reason, test_support::HasId("loader.pin_memory.size_not_recorded"));
}

TEST(LoaderWorkers, TheStartOfTheWorkersIsNotARecurringWait)
{
    const auto advice = judge("loader_workers",
                              "main\nannotation enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 100 90\n"
                              "stream 0 7\nkernel a 0 100\nkernel a 190 810");
    EXPECT_EQ(advice.state, State::CannotTell) << advice.reason;
}

} // namespace
} // namespace advisor_test
