#include "tests/advisor/rules_fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace advisor_test {
namespace {

using advisor::State;
using testing::Contains;
using testing::HasSubstr;

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

TEST(ZeroGrad, FiresFromATwoHundredthOfTheStepOn)
{
    EXPECT_EQ(Judged("zero_grad_set_to_none", zeroing(4.9)).advice().state, State::Silent);
    EXPECT_EQ(Judged("zero_grad_set_to_none", zeroing(5.1)).advice().state, State::Fires);
}

TEST(ZeroGrad, TheRangeReachesFromTheFillsToEverythingAroundThem)
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
            op aten::add_ 400 15
          end
    )");
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_DOUBLE_EQ(judged.advice().saving->low, 40);
    EXPECT_DOUBLE_EQ(judged.advice().saving->high, 65);
    EXPECT_THAT(judged.advice().reason, HasSubstr("fills 4 gradients"));
    EXPECT_THAT(judged.advice().caveats, Contains(HasSubstr("Optimizers skip parameters")));
}

TEST(ZeroGrad, WhatTakingLargeGradientsFromTheSystemCostsIsNotPredicted)
{
    const Judged judged("zero_grad_set_to_none", zeroing(50));
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_FALSE(judged.advice().saving);
    EXPECT_THAT(judged.advice().whyNoPrediction, HasSubstr("page by page"));
}

TEST(ZeroGrad, FillsElsewhereAreNoZeroingOfGradients)
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

TEST(MemoryFormat, FiresFromAFifthOfTheWorkOn)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.19)).advice().state, State::Silent);
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.21)).advice().state, State::Fires);
}

TEST(MemoryFormat, IsSilentWhereItIsOn)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.9), {"memory_format=channels_last"}).advice().state,
              State::Silent);
}

TEST(MemoryFormat, CannotTellTheLayoutOfAnImportedTrace)
{
    EXPECT_EQ(Judged("memory_format", cpuRun(1000, 0, 0.9), {}, true).advice().state, State::CannotTell);
}

TEST(MemoryFormat, WarnsOfViewsAndOfOtherModels)
{
    const Judged judged("memory_format", cpuRun(1000, 0, 0.9));
    EXPECT_THAT(judged.advice().caveats, Contains(HasSubstr("view")));
    EXPECT_THAT(judged.advice().caveats, Contains(HasSubstr("vision models")));
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

TEST(PrecisionAmp, WarnsOfTheLoss)
{
    const Judged judged("precision_amp", cpuRun(1000, 0, 0.9, "meta host.cpu_flags avx512_bf16"));
    EXPECT_THAT(judged.advice().caveats, Contains(HasSubstr("finite and close")));
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
    EXPECT_THAT(judged.advice().caveats, Contains(HasSubstr("Only around validation")));
}

TEST(EvalNoGrad, OperatorsThatAreNotNumberedForAutogradSpeakAgainstIt)
{
    const std::string off = validation("op aten::conv2d 10000 500");
    EXPECT_EQ(Judged("eval_no_grad", off, {"eval.no_grad=false"}).advice().state, State::Silent);
    EXPECT_EQ(Judged("eval_no_grad", off, {}, true).advice().state, State::Silent);
    EXPECT_EQ(Judged("eval_no_grad", validation("op aten::conv2d 10000 500 seq=4"), {}, true).advice().state,
              State::Fires);
}

TEST(EvalNoGrad, GradientsOfTheTrainingStepAreNoFinding)
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

TEST(DebugAnomaly, TheChecksAreWhatItSaves)
{
    const Judged judged("debug_anomaly", R"(
        main
          repeat 10 every 1000
            step 0 0 1000
            phase backward 100 800
            op aten::isnan 600 20
            op aten::ne 602 15
            op aten::isnan 700 20
            op aten::ne 702 15
          end
    )",
                        {"debug.anomaly=true"});
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_DOUBLE_EQ(judged.advice().saving->low, 10);
    EXPECT_DOUBLE_EQ(judged.advice().saving->high, 40);
    EXPECT_THAT(judged.advice().reason, HasSubstr("2 checks a step"));
}

TEST(DebugAnomaly, OnWithoutOperatorsIsStillFoundButNotPredicted)
{
    const Judged judged("debug_anomaly", "main\nrepeat 5 every 100\nstep 0 0 100\nphase backward 10 50\nend",
                        {"debug.anomaly=true"});
    EXPECT_EQ(judged.advice().state, State::Fires);
    EXPECT_FALSE(judged.advice().saving);
    EXPECT_FALSE(judged.advice().evidence.empty());
}

TEST(DebugAnomaly, ChecksForNanInForwardAreTheModelsOwn)
{
    const Judged judged("debug_anomaly",
                        "main\nrepeat 5 every 100\nstep 0 0 100\nphase forward 10 50\nop aten::isnan 20 5\nend", {},
                        true);
    EXPECT_EQ(judged.advice().state, State::Silent);
}

} // namespace
} // namespace advisor_test
