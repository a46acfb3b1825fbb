// Sizes of matmuls compared with the sizes that tensor cores need.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using testing::DoubleNear;
using testing::HasSubstr;

struct Run {
    std::string op = "aten::mm", shapes = "[[512, 768], [768, 1001]]", types = "[c10::Half, c10::Half]";
    std::string kernel = "turing_fp16_s1688gemm_fp16_128x64", device = "device 0 \"NVIDIA A100\" \"\" sm=80";
    int us = 500; ///< of 900
};

Advice product(const Run& run = {})
{
    return judge("gemm_dimensions",
                 fmt::format("{}\nmain\nrepeat 5 every 1000\nstep 0 0 1000\nop {} 0 14 shapes=\"{}\" types=\"{}\"\n"
                             "call cudaLaunchKernel 10 3 corr=1\nop aten::add 15 4\ncall cudaLaunchKernel 16 2 corr=2\n"
                             "call cudaDeviceSynchronize 20 905\n"
                             "end\nstream 0 7\nrepeat 5 every 1000\nkernel {} 20 {} corr=1\n"
                             "kernel vectorized_elementwise_kernel {} {} corr=2\nend\n",
                             run.device, run.op, run.shapes, run.types, run.kernel, run.us, 20 + run.us, 900 - run.us));
}

TEST(GemmDimensions, MisalignedSizesAreNamedWithBetterOnes)
{
    const Advice advice = product();
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("gemm.dimensions.padded"));
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.5556, 1e-4)));
    EXPECT_THAT(advice.reason, HasNumber("unit", 8));
    EXPECT_THAT(advice.reason, HasText("sizes", HasSubstr("512 × 1001 × 768 → 512 × 1008 × 768")));
    EXPECT_NEAR(advice.timeShare, 0.5, 1e-2);
    EXPECT_FALSE(advice.toggle);
    EXPECT_FALSE(advice.whyNoToggle.empty());
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_NEAR(advice.saving->high, 500, 10);
    EXPECT_EQ(advice.evidence.front().name, "aten::mm");
}

TEST(GemmDimensions, SizesThatNoTensorHasAreNotRecorded)
{
    const Advice advice = product({.shapes = "[[9223372036854775807, 4294967295], [4294967295, 1001]]"});
    EXPECT_EQ(advice.state, State::CannotTell) << advice.reason;
}

TEST(GemmDimensions, MultiplesAreSilent)
{
    EXPECT_EQ(product({.shapes = "[[512, 768], [768, 1008]]"}).state, State::Silent);
}

TEST(GemmDimensions, IdleTensorCoresAreReported)
{
    EXPECT_THAT(product({.kernel = "ampere_fp16_sgemm_fp16_64x64"}).reason, HasId("gemm.dimensions.idle"));
}

TEST(GemmDimensions, EachOperatorHasItsSizesInOtherInputs)
{
    EXPECT_THAT(product({.op = "aten::addmm",
                         .shapes = "[[1001], [512, 768], [768, 1001], [], []]",
                         .types = "[c10::BFloat16, c10::BFloat16, c10::BFloat16, Scalar, Scalar]"})
                    .reason,
                HasText("sizes", HasSubstr("512 × 1001 × 768 →")));
    EXPECT_THAT(product({.op = "aten::bmm", .shapes = "[[16, 100, 60], [16, 60, 100]]"}).reason,
                HasText("sizes", HasSubstr("100 × 100 × 60 → 104 × 104 × 64")));
}

TEST(GemmDimensions, Tf32NeedsMultiplesOfFourAndFp32DoesNot)
{
    const std::string tf32 = "ampere_sgemm_tf32_s1688gemm_tf32_128x64", fp32 = "ampere_sgemm_128x64_nn";
    const std::string floats = "[float, float]";
    EXPECT_EQ(product({.shapes = "[[512, 768], [768, 1004]]", .types = floats, .kernel = tf32}).state, State::Silent);
    const Advice odd = product({.shapes = "[[512, 768], [768, 1001]]", .types = floats, .kernel = tf32});
    ASSERT_EQ(odd.state, State::Fires) << odd.reason;
    EXPECT_THAT(odd.reason, HasNumber("unit", 4));
    EXPECT_THAT(odd.reason, HasText("sizes", HasSubstr("→ 512 × 1004 × 768")));
    EXPECT_EQ(product({.types = floats, .kernel = fp32}).state, State::Silent) << "see precision.tf32";
}

TEST(GemmDimensions, APaddingThatIsMostOfTheWorkIsNotAdvised)
{
    EXPECT_EQ(product({.shapes = "[[512, 768], [768, 1]]"}).state, State::Silent);
}

TEST(GemmDimensions, FiresFromFivePercentOfTheTime)
{
    EXPECT_EQ(product({.us = 40}).state, State::Silent);
    EXPECT_EQ(product({.us = 50}).state, State::Fires);
}

TEST(GemmDimensions, SizesDoNotMatterIfTheDeviceWaitsForTheHost)
{
    const std::string idle = "device 0 \"NVIDIA A100\" \"\" sm=80\nmain\nrepeat 5 every 1000\nstep 0 0 1000\n"
                             "op aten::mm 0 50 shapes=\"[[512, 768], [768, 1001]]\" types=\"[c10::Half, c10::Half]\"\n"
                             "call cudaLaunchKernel 10 5 corr=1\nend\nstream 0 7\nrepeat 5 every 1000\n"
                             "kernel ampere_fp16_s16816gemm_fp16 20 40 corr=1\nend\n";
    EXPECT_EQ(judge("gemm_dimensions", idle).state, State::Silent) << "all of the kernel time, 4 % of the time";
}

TEST(GemmDimensions, WithoutTensorCoresSizesDoNotMatter)
{
    EXPECT_EQ(product({.device = "device 0 \"GeForce GTX 1080\" \"\" sm=61"}).state, State::Silent);
    EXPECT_EQ(product({.device = ""}).state, State::CannotTell);
}

TEST(GemmDimensions, WithoutSizesOrLaunchesItCannotTell)
{
    const Advice advice = product({.shapes = "", .types = ""});
    EXPECT_EQ(advice.state, State::CannotTell);
    EXPECT_THAT(advice.reason, HasId("gemm.dimensions.shapes_not_recorded"));
    EXPECT_EQ(judge("gemm_dimensions", "device 0 \"NVIDIA A100\" \"\" sm=80\nmain\nrepeat 5 every 1000\nstep 0 0 1000\n"
                                       "op aten::mm 0 50 shapes=\"[[512, 768], [768, 1001]]\"\nend\nstream 0 7\n"
                                       "kernel ampere_sgemm 0 900\n")
                  .state,
              State::CannotTell);
}

} // namespace
} // namespace advisor_test
