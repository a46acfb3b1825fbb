#include "advisor/rule.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace advisor_test {
namespace {

using namespace advisor;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

RuleAdvice verdict(const std::string& id, State state, const std::string& reason, double worth = 0)
{
    RuleAdvice advice{.id = id, .advice = {}, .impact = worth};
    advice.advice.state = state;
    advice.advice.reason = profiler::foreignText(reason);
    return advice;
}

std::vector<std::string> told(const std::vector<RuleAdvice>& all)
{
    std::vector<std::string> lines;
    for (const RuleAdvice& one : all)
        lines.push_back(one.id + " " + one.advice.reason.text);
    return lines;
}

const std::vector<RuleAdvice> kSaid = {verdict("a", State::Fires, "fires", 9), verdict("b", State::Fires, "fires", 5),
                                       verdict("c", State::CannotTell, "unknown"),
                                       verdict("d", State::Silent, "silent")};

TEST(LiveAdvice, NewFiguresReplaceOlderOnes)
{
    EXPECT_THAT(
        told(mergeLiveAdvice(kSaid, {verdict("d", State::Silent, "now"), verdict("b", State::Fires, "now", 99)})),
        ElementsAre("a fires", "b now", "c unknown", "d now"))
        << "in their places, regardless of their impact";
}

TEST(LiveAdvice, AFindingThatTheLastStepsDoNotShowStays)
{
    EXPECT_THAT(told(mergeLiveAdvice(kSaid, {verdict("a", State::Silent, "now"), verdict("b", State::CannotTell, "now"),
                                             verdict("d", State::CannotTell, "now")})),
                ElementsAre("a fires", "b fires", "c unknown", "d silent"));
}

TEST(LiveAdvice, ANewFindingIsRankedByItsImpact)
{
    EXPECT_THAT(told(mergeLiveAdvice(kSaid, {verdict("d", State::Fires, "now", 7)})),
                ElementsAre("a fires", "d now", "b fires", "c unknown"));
    EXPECT_THAT(told(mergeLiveAdvice(kSaid, {verdict("c", State::Fires, "now", 1)})),
                ElementsAre("a fires", "b fires", "c now", "d silent"));
}

TEST(LiveAdvice, WhatCouldNotBeToldIsSilentOnceItIsTold)
{
    EXPECT_THAT(told(mergeLiveAdvice(kSaid, {verdict("c", State::Silent, "now")})),
                ElementsAre("a fires", "b fires", "d silent", "c now"));
    EXPECT_THAT(told(mergeLiveAdvice({}, {verdict("c", State::Silent, "now")})), ElementsAre("c now"));
}

TEST(LiveAdvice, OnLastStepsIsNotAboutTheRun)
{
    const auto trace =
        test_support::traceFromText("main\nrepeat 50 every 100\n step 0 0 100\n phase \"data wait\" 0 50\nend");
    const auto facts = profiler::analysis::analyse(*trace);
    std::vector<std::string> asked, all;
    for (const RuleAdvice& one : adviseOnSteps(*trace, facts, nullptr))
        asked.push_back(one.id);
    for (const RuleAdvice& one : advise(*trace, facts, nullptr))
        all.push_back(one.id);
    EXPECT_THAT(asked, Contains("loader.workers"));
    for (const char* ofTheRun : {"step.variance", "eval.no_grad", "loader.persistent_workers", "memory.pressure",
                                 "batch.find_max", "checkpointing", "gradient.clip_norm", "schedule.kind"}) {
        EXPECT_THAT(all, Contains(ofTheRun));
        EXPECT_THAT(asked, Not(Contains(ofTheRun)));
    }
}

} // namespace
} // namespace advisor_test
