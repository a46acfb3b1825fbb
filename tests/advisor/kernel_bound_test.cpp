// Faster kernels save at most their part of the critical path.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::SavingKind;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;

/// Ten steps of 10,000 µs whose device runs `kernels` from 200 µs on, launched one after the other from 100 µs on. The
/// host works until the end of the step, or waits for the device there.
std::string steps(const std::vector<std::pair<std::string, double>>& kernels, bool waits, std::string_view more = "")
{
    std::string host, device;
    double at = 200;
    int correlation = 0;
    for (const auto& [name, us] : kernels) {
        ++correlation;
        host += fmt::format("call cudaLaunchKernel {} 1 corr={}\n", 100 + 2 * correlation, correlation);
        device += fmt::format("kernel \"{}\" {} {} corr={}\n", name, at, us, correlation);
        at += us;
    }
    host += waits ? fmt::format("call cudaDeviceSynchronize 190 {}\n", at - 190) : "op mine::work 190 9700\n";
    const double step = waits ? at : 10'000;
    return fmt::format("device 0 \"NVIDIA H100\" \"\" sm=90\nmain\nrepeat 10 every {0}\nstep 0 0 {0}\n{1}{2}\nend\n"
                       "stream 0 7\nrepeat 10 every {0}\n{3}end\n",
                       step, host, more, device);
}

struct Bounded {
    std::string_view stem;
    std::vector<std::pair<std::string, double>> kernels;
    double boundUs; ///< of a device that is always busy
    std::string_view more = "";
};

/// 200 µs of FP32 kernels and others, for each rule about kernels. Kernels that no finding is about take as long.
std::vector<Bounded> bounded()
{
    const std::string gemm = "ampere_sgemm_128x64_tn", add = "vectorized_elementwise_kernel";
    return {{"precision_amp", {{gemm, 150}, {gemm, 50}}, 200},
            {"precision_amp", {{gemm, 100}, {add, 100}}, 150}, // half of the memory-bound kernels
            {"precision_tf32", {{gemm, 150}, {add, 50}}, 150},
            {"fuse_pointwise", {{add, 60}, {add, 60}, {gemm, 80}}, 120},
            {"memory_format", {{"cudnn::nchwToNhwcKernel", 40}, {"implicit_convolve_sgemm", 100}, {add, 60}}, 140},
            {"attention", {{gemm, 50}, {"softmax_warp_forward", 50}, {gemm, 50}, {add, 50}}, 150}};
}

TEST(KernelBound, ABusyDeviceIsBoundByItsKernels)
{
    for (const Bounded& row : bounded()) {
        auto kernels = row.kernels;
        for (auto& [name, us] : kernels)
            us *= 49; // with 9,800 of 10,000 µs, the device is the only bottleneck of the step
        const Advice advice = judge(row.stem, steps(kernels, true, row.more));
        ASSERT_EQ(advice.state, State::Fires) << row.stem << ": " << advice.reason.text;
        ASSERT_TRUE(advice.saving) << row.stem << ": " << advice.whyNoPrediction.text;
        EXPECT_EQ(advice.saving->kind, SavingKind::UpperBound) << row.stem;
        EXPECT_EQ(advice.saving->low, 0) << row.stem;
        EXPECT_NEAR(advice.saving->high, 49 * row.boundUs, 0.02 * 49 * row.boundUs) << row.stem;
    }
}

TEST(KernelBound, ADeviceBusyForTwoPercentOfTheStepIsNot)
{
    for (const Bounded& row : bounded()) {
        const Advice advice = judge(row.stem, steps(row.kernels, false, row.more));
        EXPECT_EQ(advice.state, State::Silent) << row.stem << ": " << advice.reason.text;
        EXPECT_THAT(advice.reason, HasId("kernels.off_critical_path")) << row.stem;
        EXPECT_THAT(advice.reason, HasNumber("share", testing::Lt(0.001))) << row.stem;
    }
}

TEST(KernelBound, OfKernelsThatRunATenthOfTheTimeIsShownThoughItIsNothing)
{
    const auto hidden = [](double us) {
        return judge("precision_tf32", steps({{"ampere_sgemm_128x64_tn", us}}, false));
    };
    EXPECT_EQ(hidden(990).state, State::Silent);
    const Advice shown = hidden(1'010);
    ASSERT_EQ(shown.state, State::Fires) << shown.reason.text;
    EXPECT_FALSE(shown.saving);
    EXPECT_THAT(shown.whyNoPrediction, HasId("kernels.hidden"));
    EXPECT_NEAR(shown.timeShare, 0, 1e-6) << "it ranks last";
}

TEST(KernelBound, FiresFromOnePercentOfTheStep)
{
    const auto ofTenMilliseconds = [](double productUs) {
        // The host prepares for 10 ms, launches and waits.
        return judge("precision_tf32",
                     fmt::format("device 0 \"NVIDIA H100\" \"\" sm=90\nmain\nrepeat 10 every 10000\nstep 0 0 10000\n"
                                 "op mine::prepare 0 9600\ncall cudaLaunchKernel 9602 2 corr=1\n"
                                 "call cudaDeviceSynchronize 9605 {1}\nend\nstream 0 7\nrepeat 10 every 10000\n"
                                 "kernel ampere_sgemm_128x64_tn 9610 {0} corr=1\nend\n",
                                 productUs, productUs + 6))
            .state;
    };
    EXPECT_EQ(ofTenMilliseconds(110), State::Fires);
    EXPECT_EQ(ofTenMilliseconds(90), State::Silent);
}

TEST(KernelBound, RanksBelowWhatTheStepWaitsFor)
{
    // The device computes for a quarter of the step, in FP32, and waits for data for most of the rest.
    const std::string text = "device 0 \"NVIDIA H100\" \"\" sm=90\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n"
                             "phase \"data wait\" 0 700\ncall cudaLaunchKernel 702 2 corr=1\n"
                             "call cudaDeviceSynchronize 710 290\nend\nstream 0 7\nrepeat 10 every 1000\n"
                             "kernel ampere_sgemm_128x64_tn 740 260 corr=1\nend\n";
    const auto trace = test_support::traceFromText(text);
    const auto advice = advisor::advise(*trace, nullptr);
    EXPECT_EQ(advice[0].id, "loader.workers");
    double before = advice[0].impact;
    for (const auto& row : advice)
        if (row.id == "precision.amp" || row.id == "precision.tf32") {
            EXPECT_LT(row.impact, before) << row.id;
            if (row.advice.saving) {
                EXPECT_NEAR(row.advice.saving->high, 260, 5) << row.id;
            } else {
                EXPECT_FALSE(row.sharesWith.empty()) << "the same kernels are claimed once";
            }
        }
}

TEST(KernelBound, WithoutRecordedLaunchesKernelTimeIsUsed)
{
    const Advice advice =
        judge("precision_tf32", "device 0 \"NVIDIA H100\" \"\" sm=90\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend\n"
                                "stream 0 7\nrepeat 10 every 1000\nkernel ampere_sgemm_128x64_tn 100 300\nend\n");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason.text;
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->high, 300, 1e-9);
}

TEST(KernelBound, WithoutStepsIsAShareOfTheTimeAndNoPrediction)
{
    const Advice advice = judge("precision_tf32", "device 0 \"NVIDIA H100\" \"\" sm=90\nstream 0 7\n"
                                                  "kernel ampere_sgemm_128x64_tn 0 300\nkernel elementwise 300 700\n");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason.text;
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, profiler::test::hasId("steps.none.consequence"));
    EXPECT_NEAR(advice.timeShare, 0.3, 1e-9);
}

} // namespace
} // namespace advisor_test
