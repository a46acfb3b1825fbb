#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::State;
using testing::Contains;
using testing::HasSubstr;

Judged sync(const std::string& text, const std::vector<std::string>& assignments = {})
{
    return Judged("sync_every_n_steps", text, assignments);
}

TEST(SyncEveryNSteps, FiresFromTwoPercentOfTheStep)
{
    EXPECT_EQ(sync(gpuRun(1.9, 10)).advice().state, State::Silent);
    EXPECT_EQ(sync(gpuRun(2.1, 10)).advice().state, State::Fires);
}

TEST(SyncEveryNSteps, SavesAtMostNineTenthsOfTheIdleTime)
{
    const Judged judged = sync(gpuRun(30, 20));
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_EQ(judged.advice().saving->kind, advisor::SavingKind::UpperBound) << "no launches are recorded";
    EXPECT_NEAR(judged.advice().saving->high, 27, 1e-9); // the device idles for 30
    EXPECT_EQ(judged.advice().toggle->to, "10");
    EXPECT_THAT(judged.advice().caveats, Contains(test_support::HasId("sync.every_n_steps.detach")));
    EXPECT_THAT(judged.advice().caveats, Contains(test_support::HasId("sync.every_n_steps.late")));
}

TEST(SyncEveryNSteps, ReadingACpuTensorIsNotASync)
{
    const Judged judged = sync(cpuRun(1000, 100));
    EXPECT_EQ(judged.advice().state, State::Silent);
    EXPECT_THAT(judged.advice().reason.text, HasSubstr("CPU"));
}

TEST(SyncEveryNSteps, IsSilentIfAlreadySet)
{
    EXPECT_EQ(sync(gpuRun(30, 20), {"sync.every_n_steps=10"}).advice().state, State::Silent);
    EXPECT_EQ(sync(gpuRun(30, 20), {"sync.every_n_steps=0"}).advice().state, State::Silent); // only at the end of an
                                                                                             // epoch
    EXPECT_EQ(sync(gpuRun(30, 20), {"sync.every_n_steps=9"}).advice().state, State::Fires);
}

TEST(SyncEveryNSteps, LargeCopiesAreResultsThatAreNeeded)
{
    std::string text = gpuRun(30, 20);
    text.replace(text.find("bytes=4 "), 8, "bytes=1000000 ");
    EXPECT_EQ(sync(text).advice().state, State::Silent);
}

TEST(SyncEveryNSteps, IdleTimeInADataWaitBelongsToTheLoader)
{
    std::string text = gpuRun(30, 20);
    text.replace(text.find("phase metrics 40 20"), 19, "phase metrics 40 20\nphase \"data wait\" 61 38");
    EXPECT_EQ(sync(text).advice().state, State::Silent);
}

TEST(MemoryFormatOnAGpu, LayoutChangesAreEvidenceWithoutAConfiguration)
{
    const std::string_view text = R"(
        device 0 gpu
        main
          repeat 10 every 100
            step 0 0 100
          end
        stream 0 7
          repeat 10 every 100
            kernel nchwToNhwcKernel 0 10
            kernel cudnn_conv_fprop 10 60
            kernel elementwise 70 20
          end
    )";
    const Judged judged("memory_format", std::string(text), {}, true);
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_EQ(judged.advice().evidence.front().name, "nchwToNhwcKernel");
    EXPECT_FALSE(judged.advice().toggle);
}

TEST(MemoryFormatOnAGpu, WithoutStepsDeviceTimeIsUsed)
{
    const std::string kernels =
        "device 0 gpu\nmain\nop aten::conv2d 0 90\nstream 0 7\n"
        "kernel nchwToNhwcKernel 0 10\nkernel cudnn_conv_fprop 10 60\nkernel elementwise 70 20\n";
    const advisor::Advice advice = Judged("memory_format", kernels, {}, true).advice();
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, test_support::HasId("memory_format.changes"));
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, test_support::HasId("steps.none.consequence"));
}

TEST(PrecisionAmpOnAGpu, KernelNamesShowThePrecision)
{
    EXPECT_EQ(Judged("precision_amp", gpuRun(30, 20, "sgemm_128x64")).advice().state, State::Fires);
    EXPECT_EQ(Judged("precision_amp", gpuRun(30, 20, "ampere_bf16_s16816gemm_bf16_128x64")).advice().state,
              State::Silent);
}

TEST(PrecisionAmpOnAGpu, DevicesWithoutBf16UnitsGetFp16)
{
    const auto toggle = [](const char* device) {
        const Judged judged("precision_amp", "device 0 GPU \"\" " + std::string(device) +
                                                 "\nmain\nrepeat 5 every 100\nstep 0 0 100\nend\n"
                                                 "stream 0 7\nkernel volta_sgemm_128x64 0 400");
        return judged.advice().toggle ? judged.advice().toggle->to : judged.advice().reason.text;
    };
    EXPECT_EQ(toggle("sm=70"), "fp16");
    EXPECT_EQ(toggle("sm=75"), "fp16");
    EXPECT_EQ(toggle("sm=80"), "bf16");
    EXPECT_EQ(toggle(""), "bf16");
}

TEST(MemoryFormat, LayoutConversionsAloneFire)
{
    const auto judged = [](int changeUs, std::string_view change) {
        return Judged("memory_format",
                      "device 0 gpu\nmain\nrepeat 5 every 1000\nstep 0 0 1000\nop aten::mm 0 10\nend\nstream 0 7\n"
                      "repeat 5 every 1000\nkernel cudnn_fprop 0 100\nkernel " +
                          std::string(change) + " 100 " + std::to_string(changeUs) + "\nkernel sgemm 300 " +
                          std::to_string(600 - changeUs) + "\nend",
                      {}, true)
            .advice()
            .state;
    };
    EXPECT_EQ(judged(30, "nchwToNhwcKernel"), State::Silent);
    EXPECT_EQ(judged(40, "nchwToNhwcKernel"), State::Fires);
    EXPECT_EQ(judged(40, "batched_transpose_16x32_half"), State::Fires);
}

} // namespace
} // namespace advisor_test
