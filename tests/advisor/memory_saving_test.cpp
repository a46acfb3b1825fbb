#include "tests/advisor/rules_fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::SavingUnit;
using advisor::State;

/// Three steps: convolution and ReLU that keep nothing; convolution (keeps 800 bytes); norm, ReLU and pooling (800 of
/// the ReLU, 200 and 400 of the pooling; the norm's 800 are freed before); convolution and linear layer. The backward
/// pass of the linear layer needs 500 more; before the backward pass reaches the pooling, 1,500 bytes are freed by the
/// events in `freed`.
std::string convolutions(const std::string& freed, const std::string& seq = "seq")
{
    std::string text = R"(
        repeat 3 every 1000
          main
            step 0 0 1000
            phase forward 0 400
            op aten::conv2d 0 5
            op aten::relu 6 2
            op aten::conv2d 9 81 SEQ=1
            op aten::batch_norm 100 20 SEQ=2
            op aten::relu 150 10 SEQ=3
            op aten::max_pool2d 190 10 SEQ=4
            op aten::conv2d 210 90 SEQ=5
            op aten::relu 310 5 SEQ=6
            op aten::linear 340 50 SEQ=7
            phase backward 400 550
            op AddmmBackward0 410 20 SEQ=7 backward
            op ReluBackward0 440 20 SEQ=6 backward
            op ConvolutionBackward0 470 90 SEQ=5 backward
            op MaxPool2DBackward0 570 20 SEQ=4 backward
            op ReluBackward0 600 20 SEQ=3 backward
            op NativeBatchNormBackward0 630 20 SEQ=2 backward
            op ConvolutionBackward0 700 100 SEQ=1 backward
          counter "CPU memory allocated"
            sample 10 800
            sample 110 1600
            sample 155 2400
            sample 156 1600
            sample 191 1800
            sample 192 2200
            sample 220 3000
            sample 420 3500
            sample 435 3000
            FREED
            sample 960 0
        end
        counter memory
          sample 0 1000
          sample 5000 99614720
    )";
    for (auto at = text.find("SEQ"); at != text.npos; at = text.find("SEQ"))
        text.replace(at, 3, seq);
    return text.replace(text.find("FREED"), 5, freed);
}

advisor::Advice judged(const std::string& stem, const std::string& text)
{
    return Judged(stem, text, {"batch.memory_limit=100"}).advice();
}

TEST(MemorySaving, WhatQuickOperatorsKeepIsGoneUntilTheirBackwardPass)
{
    const auto advice = judged("checkpointing", convolutions("sample 560 1500"));
    ASSERT_EQ(advice.state, State::Fires);
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_EQ(advice.saving->unit, SavingUnit::Bytes);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    // Of 3,500 bytes, 2,400 then remain: the results of the norm and the ReLU in addition to the convolution's, in the
    // forward pass.
    EXPECT_DOUBLE_EQ(advice.saving->high, 1100);
}

TEST(MemorySaving, TheirResultGoesWhereTheProductThatReadsItIsOfTheSameBlock)
{
    std::string text = convolutions("sample 560 1500");
    const std::string peak = "sample 420 3500";
    text.replace(text.find(peak), peak.size(), "sample 420 4500");
    const auto advice = judged("checkpointing", text);
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_DOUBLE_EQ(advice.saving->high, 1400);
}

TEST(MemorySaving, WhatIsPassedOnIsGivenBackAfterTheProductThatReadsIt)
{
    std::string text = convolutions("sample 560 1500");
    // The norm's result outlives the next convolution, whose own result is equally large.
    for (const auto& [from, to] : {std::pair<std::string, std::string>("sample 156 1600", ""),
                                   {"sample 191 1800", "sample 191 2600"},
                                   {"sample 192 2200", "sample 192 3000"},
                                   {"sample 220 3000", "sample 220 3800\nsample 305 3000"},
                                   {"sample 420 3500", "sample 420 5500"}})
        text.replace(text.find(from), from.size(), to);
    const auto advice = judged("checkpointing", text);
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_DOUBLE_EQ(advice.saving->high, 1400);
}

TEST(MemorySaving, RunningThemAgainMayBeANewPeak)
{
    const auto advice = judged("checkpointing", convolutions("sample 560 3000"));
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    // The peak was 3,500; now it is 3,000, and 200 more while the results of the norm and the ReLU both exist.
    EXPECT_DOUBLE_EQ(advice.saving->high, 300);
}

TEST(MemorySaving, PredictsNothingWithoutTheBackwardPass)
{
    const auto advice = judged("checkpointing", convolutions("sample 560 1500", "corr"));
    EXPECT_EQ(advice.state, State::Fires);
    EXPECT_FALSE(advice.saving);
    EXPECT_EQ(advice.whyNoPrediction.id, "memory.activations_unknown");
}

TEST(MemorySaving, HalfTheBatchSavesAtMostHalfOfWhatAStepAdds)
{
    const auto advice = judged("gradient_accumulation", convolutions("sample 560 1500\nsample 940 0"));
    ASSERT_EQ(advice.state, State::Fires);
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_EQ(advice.saving->unit, SavingUnit::Bytes);
    EXPECT_DOUBLE_EQ(advice.saving->high, 1750);
}

TEST(MemorySaving, TheHighestStepCountsAndNotASmallLastBatch)
{
    const std::string smallLast = convolutions("sample 560 1500\nsample 940 0") + R"(
        main
          step 3 3000 1000
          phase forward 3000 400
          phase backward 3400 550
        counter "CPU memory allocated"
          sample 3010 400
          sample 3390 900
          sample 3420 1000
          sample 3930 0
    )";
    const auto advice = judged("gradient_accumulation", smallLast);
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_DOUBLE_EQ(advice.saving->high, 1750);
}

TEST(MemorySaving, PredictsNothingWithoutAllocations)
{
    const std::string text =
        "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\ncounter memory\nsample 0 1000\nsample 5000 99614720\n";
    for (const char* stem : {"checkpointing", "gradient_accumulation"}) {
        const auto advice = judged(stem, text);
        EXPECT_EQ(advice.state, State::Fires) << stem;
        EXPECT_FALSE(advice.saving) << stem;
        EXPECT_FALSE(advice.whyNoPrediction.empty()) << stem;
    }
}

} // namespace
} // namespace advisor_test
