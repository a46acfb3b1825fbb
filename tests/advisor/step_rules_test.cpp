#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace advisor_test {
namespace {

using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::AllOf;
using testing::Contains;
using testing::DoubleNear;

std::string zeroing(double fillUs)
{
    return fmt::format(R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            phase "zero grad" 0 {0}
            op aten::zero_ 0 {0}
            phase backward 300 600
            op aten::mm 310 500
          end
    )",
                       fillUs);
}

TEST(HostPython, NamesTheLineThatRunsOutsideOfThePhases)
{
    const advisor::Advice advice = judge("host_python", sampledProgram(400));
    EXPECT_THAT(advice.reason,
                AllOf(HasId("host.python.much"), HasNumber("share", DoubleNear(0.4, 1e-6)),
                      HasNumber("time", DoubleNear(400, 1e-3)), HasNumber("most", DoubleNear(0.4, 1e-6))));
    ASSERT_EQ(advice.source.size(), 1U);
    EXPECT_EQ(advice.source[0].file, "/p/train.py");
    EXPECT_EQ(advice.source[0].line, 12);
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_NEAR(advice.saving->high, 400, 1);
    EXPECT_FALSE(advice.toggle);
}

TEST(HostPython, FiresFromATenthOfTheStepOn)
{
    EXPECT_EQ(judge("host_python", sampledProgram(99)).state, State::Silent);
    EXPECT_EQ(judge("host_python", sampledProgram(101)).state, State::Fires);
}

TEST(HostPython, IsSilentWhileADeviceWorks)
{
    EXPECT_THAT(judge("host_python",
                      sampledProgram(400, "device 0 gpu\nstream 0 7\nrepeat 20 every 1000\nkernel k 0 990\nend\n"))
                    .reason,
                HasId("host.python.little"));
}

TEST(HostPython, DoesNotNameTheCallThatRunsTheWholeTraining)
{
    std::string text = sampledProgram(400);
    text.replace(text.find(R"("stacks":[[0],[1]])"), 18, R"("stacks":[[0],[0]])");
    EXPECT_THAT(judge("host_python", text).reason, HasId("host.python.little"));
}

TEST(ZeroGrad, FiresFromOnePercentOfTheStep)
{
    EXPECT_EQ(Judged("zero_grad_set_to_none", zeroing(9.9)).advice().state, State::Silent);
    EXPECT_EQ(Judged("zero_grad_set_to_none", zeroing(10.1)).advice().state, State::Fires);
}

TEST(ZeroGrad, AtMostThePhaseGoesAndAllThatAddsToGradients)
{
    const Judged judged("zero_grad_set_to_none", R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            phase "zero grad" 0 50
            op aten::zero_ 0 10
            op aten::zero_ 10 10
            op aten::zero_ 20 10
            op aten::zero_ 30 10
            phase backward 300 600
            op torch::autograd::AccumulateGrad 400 35
            op aten::add_ 405 20
          end
    )");
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_EQ(judged.advice().saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_DOUBLE_EQ(judged.advice().saving->high, 50 + 35);
    EXPECT_THAT(judged.advice().reason, HasNumber("gradients", 4));
    EXPECT_THAT(judged.advice().caveats, Contains(HasId("zero_grad.set_to_none.skipped")));
}

TEST(ZeroGrad, WarnsThatGradientsAreAllocatedInEachStep)
{
    EXPECT_THAT(Judged("zero_grad_set_to_none", zeroing(50)).advice().caveats,
                Contains(HasId("zero_grad.set_to_none.allocation")));
}

TEST(ZeroGrad, FillsInOtherPhasesAreNotZeroGrad)
{
    const Judged judged("zero_grad_set_to_none", R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            phase forward 0 500
            op aten::zero_ 5 100
          end
    )",
                        {}, true);
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(MemoryFormat, FiresFromAFifthOfTheWork)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.19)).advice().state, State::Silent);
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.21)).advice().state, State::Fires);
}

TEST(MemoryFormat, IsSilentIfAlreadySet)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.9), {"memory_format=channels_last"}).advice().state,
              State::Silent);
}

TEST(MemoryFormat, CannotTellTheLayoutOfAnImportedTrace)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.9), {}, true).advice().state, State::CannotTell);
}

TEST(MemoryFormat, WarnsAboutViewsAndOtherModels)
{
    const Judged judged("memory_format", cpuRun(1000, 0, 0.9));
    EXPECT_THAT(judged.advice().caveats, Contains(profiler::test::hasId("memory_format.order")));
    EXPECT_THAT(judged.advice().caveats, Contains(profiler::test::hasId("memory_format.vision")));
}

TEST(PrecisionAmp, CannotTellOfAProcessorWhoseRestMayCostMore)
{
    constexpr std::string_view kBf16 = "meta host.cpu_flags amx_bf16";
    EXPECT_EQ(Judged("precision_amp", cpuRun(1000, 0, 0.19, kBf16)).advice().state, State::Silent);
    EXPECT_EQ(Judged("precision_amp", cpuRun(1000, 0, 0.21, kBf16)).advice().state, State::CannotTell);
    EXPECT_EQ(Judged("precision_amp", cpuRun(1000, 0, 0.79, kBf16)).advice().state, State::CannotTell);
    EXPECT_EQ(Judged("precision_amp", cpuRun(1000, 0, 0.81, kBf16)).advice().state, State::Fires);
    EXPECT_EQ(Judged("precision_amp", cpuRun(1000, 0, 0.9, kBf16), {"precision.amp=bf16"}).advice().state,
              State::Silent);
}

TEST(PrecisionAmp, WarnsAboutTheLoss)
{
    const Judged judged("precision_amp", cpuRun(1000, 0, 0.9, "meta host.cpu_flags avx512_bf16"));
    EXPECT_THAT(judged.advice().caveats, Contains(profiler::test::hasId("precision.amp.compare_loss")));
}

std::string validation(std::string_view ops)
{
    return "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\nphase validation 10000 5000\n" + std::string(ops);
}

TEST(EvalNoGrad, IsJudgedByTheValidationNotTheStep)
{
    const Judged judged("eval_no_grad", validation(""), {"eval.no_grad=false"});
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_EQ(judged.advice().measure, "validation");
    EXPECT_THAT(judged.advice().caveats, Contains(HasId("eval.no_grad.only_validation")));
}

TEST(EvalNoGrad, IsSilentIfOperatorsHaveNoSequenceNumbers)
{
    const std::string off = validation("op aten::conv2d 10000 500");
    EXPECT_EQ(Judged("eval_no_grad", off, {"eval.no_grad=false"}).advice().state, State::Silent);
    EXPECT_EQ(Judged("eval_no_grad", off, {}, true).advice().state, State::Silent);
    EXPECT_EQ(Judged("eval_no_grad", validation("op aten::conv2d 10000 500 seq=4"), {}, true).advice().state,
              State::Fires);
}

TEST(EvalNoGrad, GradientsOfTheTrainingStepAreNotAFinding)
{
    const Judged judged("eval_no_grad", R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            op aten::conv2d 0 500 seq=4
          end
          phase validation 10000 500
          op aten::conv2d 10000 100
    )",
                        {}, true);
    EXPECT_EQ(judged.advice().state, State::Silent);
}

/// Steps with a forward pass of 600 µs, longer in every other step; `validation` of two batches of 50 µs each.
std::string withAnomaly(std::string_view validation)
{
    return R"(
        main
          repeat 10 every 2000
            step 0 0 1000
            phase forward 0 600
            phase backward 700 200
            op aten::isnan 710 20
            op aten::ne 712 15
            op aten::isnan 750 20
            op aten::ne 752 15
            step 1 1000 1000
            phase forward 1000 700
          end
    )" + std::string(validation);
}

constexpr std::string_view kValidation = R"(
        phase validation 20000 300
        phase "data wait" 20000 90
        phase copy 20100 10
        phase "data wait" 20200 90
        phase copy 20290 10
    )";

TEST(DebugAnomaly, SavesTheExcessOfForwardOverAValidation)
{
    const Judged judged("debug_anomaly", withAnomaly(kValidation), {"debug.anomaly=true"});
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_NEAR(judged.advice().saving->low, 610, 2) << "steps alternate: the means of neighbours hardly differ";
    EXPECT_NEAR(judged.advice().saving->high, 710, 41) << "the backward pass keeps call sites too";
    EXPECT_THAT(judged.advice().reason, HasNumber("checks", 2));
    EXPECT_GT(judged.advice().timeShare, 0.5);
}

TEST(DebugAnomaly, PredictsNothingWithoutAValidationToCompareWith)
{
    for (const Judged& judged :
         {Judged("debug_anomaly", withAnomaly(""), {"debug.anomaly=true"}),
          Judged("debug_anomaly", withAnomaly(kValidation), {"debug.anomaly=true", "eval.no_grad=false"})}) {
        EXPECT_EQ(judged.advice().state, State::Fires);
        EXPECT_FALSE(judged.advice().saving);
        EXPECT_THAT(judged.advice().whyNoPrediction, HasId("debug.anomaly.nothing_to_compare"));
    }
}

/// Two epochs; in their first steps, 5,000 and 4,000 µs are outside of the phases.
constexpr std::string_view kEpochs = R"(
    main
      step 0 0 6000
      phase forward 5000 900
      repeat 20 every 1000
        step 1 6000 1000
        phase forward 6000 900
      end
      phase validation 26000 1000
      step 21 27000 5000
      phase forward 31000 900
      repeat 20 every 1000
        step 22 32000 1000
        phase forward 32000 900
      end
      phase validation 52000 1000
)";

/// The same with a third epoch; in its first step, `us` are outside of the phases.
std::string threeEpochs(int us)
{
    return std::string(kEpochs) + fmt::format("step 42 53000 {0}\nphase forward {1} 900\n", us + 1000, 53000 + us);
}

TEST(DebugTools, FirstStepsOfEpochsShowTheTimeOfAGradientCheckButNotItsWholeCost)
{
    for (const char* key : {"gradcheck", "gradgradcheck"}) {
        const Judged judged("debug_" + std::string(key), std::string(kEpochs), {fmt::format("debug.{}=true", key)});
        EXPECT_FALSE(judged.advice().saving);
        EXPECT_THAT(judged.advice().whyNoPrediction, AllOf(HasId("debug_tool.first_steps"), HasNumber("time", 4000)));
    }
}

TEST(DebugTools, TheFirstOfSeveralGradientChecksWarmsUp)
{
    const Judged judged("debug_gradcheck", threeEpochs(4200), {"debug.gradcheck=true"});
    EXPECT_THAT(judged.advice().whyNoPrediction, HasNumber("time", 4100));
}

TEST(DebugTools, TheAutogradProfilerCostsAtMostTwiceTheTimeOutsidePhases)
{
    const Judged judged("debug_autograd_profiler",
                        "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase forward 0 700\nend\n",
                        {"debug.autograd_profiler=true"});
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_EQ(judged.advice().saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_DOUBLE_EQ(judged.advice().saving->high, 600);
}

/// The backward pass of three layers, from the last to the first; then the gradient of the input.
std::string backwardOfLayers(std::string_view unneeded)
{
    std::string text = fmt::format("meta work.unneeded_gradients {}\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n"
                                   "phase backward 100 800\n",
                                   unneeded);
    for (int layer = 0; layer < 3; ++layer)
        text += fmt::format("op \"autograd::engine::evaluate_function: ConvolutionBackward0\" {} 100\n"
                            "op \"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\" {} 10\n"
                            "op torch::autograd::AccumulateGrad {} 5\n",
                            100 + 200 * layer, 210 + 200 * layer, 212 + 200 * layer);
    return text + "op \"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\" 630 10\nend\n";
}

TEST(WorkUnused, WorkAfterTheLastNeededGradientIsUnused)
{
    // Of the first layer and of the input.
    const Judged judged("work_unused", backwardOfLayers("2"), {"work.unused=true"});
    ASSERT_TRUE(judged.advice().saving) << judged.advice().whyNoPrediction;
    EXPECT_DOUBLE_EQ(judged.advice().saving->low, 900 - 420);
    EXPECT_DOUBLE_EQ(judged.advice().saving->high, 900 - 420 + 100) << "the previous node does the work of later ones";
    EXPECT_GT(judged.advice().timeShare, 0.5);
}

TEST(WorkUnused, TheTimeOfAnInputGradientCannotBeSeparated)
{
    for (const char* unneeded : {"0", "1", "4"}) {
        const Judged judged("work_unused", backwardOfLayers(unneeded), {"work.unused=true"});
        EXPECT_EQ(judged.advice().state, State::Fires);
        EXPECT_FALSE(judged.advice().saving) << unneeded;
    }
}

TEST(DebugAnomaly, OnWithoutOperatorsIsStillFoundButNotPredicted)
{
    const Judged judged("debug_anomaly", "main\nrepeat 5 every 100\nstep 0 0 100\nphase backward 10 50\nend",
                        {"debug.anomaly=true"});
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_FALSE(judged.advice().saving);
    EXPECT_FALSE(judged.advice().evidence.empty());
}

TEST(DebugAnomaly, NanChecksInForwardBelongToTheModel)
{
    const Judged judged("debug_anomaly",
                        "main\nrepeat 5 every 100\nstep 0 0 100\nphase forward 10 50\nop aten::isnan 20 5\nend", {},
                        true);
    EXPECT_EQ(judged.advice().state, State::Silent);
}

} // namespace
} // namespace advisor_test
