#include "advisor/prediction.h"
#include "advisor/rule.h"
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace advisor_test {
namespace {

using namespace advisor;
using testing::IsSupersetOf;

std::vector<std::string_view> keys(const std::vector<Rule>& rules)
{
    std::vector<std::string_view> result;
    for (const Rule& rule : rules)
        result.push_back(rule.key);
    return result;
}

TEST(Advisor, KnowsItsRulesByKey)
{
    const auto found = keys(allRules());
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
    EXPECT_THAT(found, IsSupersetOf({"loader.workers", "loader.pin_memory", "precision.amp", "zero_grad.set_to_none"}));
}

TEST(Advisor, EveryRulesKeyIsAKnobOrAFindingThatIsNoTip)
{
    const std::set<std::string_view> noTips = {"comm.exposed",       "comm.buckets",    "optimizer.fused",
                                               "host.bound",         "step.variance",   "memory.pressure",
                                               "thermal.throttling", "gemm.dimensions", "host.lazy_loading",
                                               "memory.growth",      "comm.stragglers", "loader.balance"};
    for (const Rule& rule : allRules())
        EXPECT_TRUE(config::findKnob(rule.key) || noTips.contains(rule.key)) << rule.key;
}

Advice predicting(double low, double mid, double high)
{
    Advice advice;
    advice.state = State::Fires;
    advice.reason = "It is so.";
    advice.saving = Saving{.unit = SavingUnit::UsPerStep, .low = low, .mid = mid, .high = high};
    settlePrediction(advice);
    return advice;
}

TEST(Prediction, AtMostHalfOfItsMiddleToEitherSideIsKept)
{
    const Advice kept = predicting(50, 100, 150);
    ASSERT_TRUE(kept.saving);
    EXPECT_EQ(kept.saving->mid, 100);
    for (const Advice& wide : {predicting(49, 100, 120), predicting(80, 100, 151), predicting(-10, 0, 10)}) {
        EXPECT_EQ(wide.state, State::Fires);
        EXPECT_FALSE(wide.saving);
        EXPECT_THAT(wide.whyNoPrediction.text, testing::HasSubstr("too wide"));
    }
}

TEST(Prediction, ARangeFromNothingIsSaidByItsEnd)
{
    EXPECT_THAT(predicting(0, 100, 41'200).whyNoPrediction.text, testing::HasSubstr("anything up to 41.2 ms:"));
    EXPECT_THAT(predicting(10, 100, 41'200).whyNoPrediction.text,
                testing::HasSubstr("anything from 10.0 µs to 41.2 ms:"));
    Advice memory;
    memory.state = State::Fires;
    memory.saving = Saving{.unit = SavingUnit::Bytes, .low = 1e6, .mid = 5e6, .high = 60e6};
    settlePrediction(memory);
    EXPECT_THAT(memory.whyNoPrediction.text, testing::HasSubstr("anything from 1.00 MB to 60.0 MB:"));
}

TEST(Prediction, WhatWouldSaveNothingDoesNotFire)
{
    const Advice nothing = predicting(0, 0.001, 0.004);
    EXPECT_EQ(nothing.state, State::Silent);
    EXPECT_FALSE(nothing.saving);
    EXPECT_THAT(nothing.reason.text, testing::HasSubstr("nothing to save"));
    EXPECT_EQ(predicting(0.004, 0.006, 0.008).state, State::Fires);
}

TEST(Prediction, OfEveryRuleOnEveryFixtureIsNarrowOrWithheldWithAReason)
{
    for (const Fixture& fixture : fixtures()) {
        const auto trace = test_support::traceFromText(fixture.text);
        const config::TrainingConfig config;
        for (const RuleAdvice& row : advise(*trace, fixture.imported ? nullptr : &config)) {
            const auto& saving = row.advice.saving;
            if (saving) {
                EXPECT_GT(saving->mid, 0) << row.id << " in " << fixture.name;
                EXPECT_GE(saving->low, saving->mid * 0.499999) << row.id << " in " << fixture.name;
                EXPECT_LE(saving->high, saving->mid * 1.500001) << row.id << " in " << fixture.name;
            } else if (row.advice.state == State::Fires) {
                EXPECT_FALSE(row.advice.whyNoPrediction.empty()) << row.id << " in " << fixture.name;
            }
        }
    }
}

TEST(Advisor, WhatSavesMostComesFirstThenWhatCannotBeToldThenTheSilent)
{
    const std::string text = cpuRun(1000, 600, 0.9) + R"(
        main
          repeat 20 every 1000
            phase "zero grad" 980 20
            op aten::zero_ 980 20
          end
    )";
    const auto trace = test_support::traceFromText(text);
    const config::TrainingConfig config;
    const auto advice = advise(*trace, &config);
    ASSERT_EQ(advice.size(), allRules().size());
    EXPECT_EQ(advice[0].id, "loader.workers");
    EXPECT_EQ(advice[1].id, "memory_format"); // predicts nothing, but is about most of what is left
    EXPECT_EQ(advice[2].id, "zero_grad.set_to_none");
    int rank = 0;
    for (const RuleAdvice& row : advice) {
        const int now = row.advice.state == State::Fires ? 0 : row.advice.state == State::CannotTell ? 1 : 2;
        EXPECT_GE(now, rank);
        rank = now;
        EXPECT_FALSE(row.advice.title.empty());
    }
}

TEST(Advisor, WhatIsAboutMostOfTheStepComesFirstThoughItPredictsNothing)
{
    const auto trace = test_support::traceFromText(R"(
        main
          repeat 20 every 1000
            step 0 0 1000
            phase "zero grad" 0 50
            op aten::zero_ 0 45
            phase backward 50 100
          end
    )");
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("debug.gradcheck", "true"));
    const auto advice = advise(*trace, &config);
    EXPECT_EQ(advice[0].id, "debug.gradcheck");
    EXPECT_FALSE(advice[0].advice.saving);
    EXPECT_GT(advice[0].worth, 400);
}

TEST(Advisor, AnEmptyTraceGetsAVerdictFromEveryRule)
{
    const auto trace = test_support::traceFromText("");
    for (const RuleAdvice& row : advise(*trace, nullptr))
        EXPECT_NE(row.advice.state, State::Fires) << row.id;
}

TEST(Advisor, WithoutStepMarksWhatMostTimeGoesToComesFirst)
{
    const auto trace = test_support::traceFromText("main\ncall cudaMemcpy 1 802 corr=5\nstream 0 7\nkernel a 0 2\n"
                                                   "copy HtoD 2 800 bytes=1000 src=pinned dst=device corr=5\n"
                                                   "kernel sgemm 802 150\nkernel a 952 50");
    const auto advice = advise(*trace, nullptr);
    EXPECT_EQ(advice[0].id, "transfer.non_blocking");
    EXPECT_EQ(advice[1].id, "precision.amp");
}

} // namespace
} // namespace advisor_test
