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
    const std::set<std::string_view> noTips = {"comm.exposed",  "comm.buckets",    "optimizer.fused",   "host.bound",
                                               "step.variance", "memory.pressure", "thermal.throttling"};
    for (const Rule& rule : allRules())
        EXPECT_TRUE(config::findKnob(rule.key) || noTips.contains(rule.key)) << rule.key;
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

TEST(Advisor, AnEmptyTraceGetsAVerdictFromEveryRule)
{
    const auto trace = test_support::traceFromText("");
    for (const RuleAdvice& row : advise(*trace, nullptr))
        EXPECT_NE(row.advice.state, State::Fires) << row.id;
}

TEST(Advisor, WithoutStepMarksWhatMostTimeGoesToComesFirst)
{
    const auto trace = test_support::traceFromText("stream 0 7\ncopy HtoD 0 800 bytes=1000 src=pinned dst=device\n"
                                                   "kernel sgemm 800 150\nkernel a 950 50");
    const auto advice = advise(*trace, nullptr);
    EXPECT_EQ(advice[0].id, "transfer.non_blocking");
    EXPECT_EQ(advice[1].id, "precision.amp");
}

} // namespace
} // namespace advisor_test
