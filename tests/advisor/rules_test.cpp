#include "tests/advisor/rules_fixtures.h"

#include "advisor/knob_changes.h"
#include "advisor_rules_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::Evidence;
using advisor::State;
using testing::IsEmpty;
using testing::Not;

class RuleFixtures : public testing::TestWithParam<Fixture> {};

TEST_P(RuleFixtures, HasTheVerdictThatItIsNamedAfter)
{
    const Judged judged(GetParam());
    EXPECT_EQ(judged.advice().state, GetParam().state) << judged.advice().reason;
    EXPECT_THAT(judged.advice().reason.text, Not(IsEmpty()));
}

TEST_P(RuleFixtures, CannotTellSaysWhatToRecord)
{
    const Judged judged(GetParam());
    const Advice& advice = judged.advice();
    EXPECT_EQ(advice.need.id.starts_with("need."), advice.state == State::CannotTell) << advice.need.id;
    EXPECT_EQ(advice.need.text.empty(), advice.need.id.empty());
}

TEST_P(RuleFixtures, EvidenceIsInTheTrace)
{
    const Judged judged(GetParam());
    const Advice& advice = judged.advice();
    EXPECT_LE(advice.evidence.size(), 10U);
    for (const Evidence& place : advice.evidence) {
        if (!place.slice) { // a gap: an empty range of a track
            EXPECT_GE(place.range.begin, judged.trace().range().begin);
            EXPECT_LE(place.range.end, judged.trace().range().end);
            EXPECT_THAT(place.name, Not(IsEmpty()));
            continue;
        }
        ASSERT_LT(place.slice->ordinal, judged.trace().sliceCount(place.track));
        const profiler::Slice slice = judged.trace().slice(*place.slice);
        EXPECT_EQ(slice.range(), place.range);
        EXPECT_EQ(judged.trace().name(slice), place.name);
        EXPECT_EQ(place.slice->track, place.track);
    }
    if (advice.state == State::Fires) {
        EXPECT_THAT(advice.evidence, Not(IsEmpty()));
    }
}

TEST_P(RuleFixtures, AFindingPredictsARangeOrSaysWhyNot)
{
    const Judged judged(GetParam());
    const Advice& advice = judged.advice();
    if (advice.state != State::Fires) {
        EXPECT_FALSE(advice.saving);
        EXPECT_FALSE(advice.toggle);
        return;
    }
    if (advice.saving) {
        EXPECT_LE(advice.saving->low, advice.saving->mid);
        EXPECT_LE(advice.saving->mid, advice.saving->high);
        EXPECT_GT(advice.saving->high, 0);
        EXPECT_THAT(advice.whyNoPrediction.text, IsEmpty());
    } else {
        EXPECT_THAT(advice.whyNoPrediction.text, Not(IsEmpty()));
    }
    EXPECT_THAT(advice.caveats, Not(IsEmpty()));
}

TEST_P(RuleFixtures, AToggleChangesTheRunsConfiguration)
{
    const Judged judged(GetParam());
    const Advice& advice = judged.advice();
    if (advice.state != State::Fires || GetParam().imported)
        return;
    ASSERT_TRUE(advice.toggle);
    config::TrainingConfig config;
    for (const std::string& assignment : GetParam().assignments)
        ASSERT_TRUE(config.setAssignment(assignment));
    EXPECT_EQ(advice.toggle->from, config.text(advice.toggle->key));
    EXPECT_NE(advice.toggle->from, advice.toggle->to);
    EXPECT_TRUE(config.set(advice.toggle->key, advice.toggle->to));
}

TEST_P(RuleFixtures, IsJudgedAsAChangeOfItsKnobIs)
{
    const Judged judged(GetParam());
    if (const auto& toggle = judged.advice().toggle) {
        EXPECT_EQ(judged.advice().objective, advisor::objectiveOf(toggle->key)) << toggle->key;
    }
}

TEST(Objective, OfSeveralChangesIsWhatTheyHaveInCommon)
{
    using advisor::Objective;
    using advisor::objectiveOf;
    const advisor::Toggle workers{"loader.workers", "0", "2"}, kind{"optimizer.kind", "adam", "adamw"},
        recompute{"checkpointing", "off", "all"}, fused{"optimizer.implementation", "for-loop", "fused"};
    EXPECT_EQ(objectiveOf(std::vector<advisor::Toggle>{}), Objective::Time);
    EXPECT_EQ(objectiveOf({fused}), Objective::Time);
    EXPECT_EQ(objectiveOf({recompute}), Objective::Memory);
    EXPECT_EQ(objectiveOf({recompute, workers}), Objective::Time);
    EXPECT_EQ(objectiveOf({recompute, workers, kind}), Objective::LossAtEqualTime);
    EXPECT_EQ(objectiveOf("schedule.warmup_steps"), Objective::LossAtEqualTime);
}

TEST(Objective, OfABatchInPartsIsMemoryAndOfALargerOneTime)
{
    using advisor::Objective;
    using advisor::objectiveOf;
    const advisor::Toggle quarter{"batch.size", "64", "16"}, parts{"gradient.accumulation", "1", "4"},
        moreParts{"gradient.accumulation", "1", "8"}, recompute{"checkpointing", "off", "all"};
    EXPECT_EQ(objectiveOf({quarter, parts}), Objective::Memory);
    EXPECT_EQ(objectiveOf({quarter, parts, recompute}), Objective::Memory);
    EXPECT_EQ(objectiveOf({quarter, moreParts}), Objective::Time);
    EXPECT_EQ(objectiveOf({quarter}), Objective::Time);
}

TEST(MeasureOf, IsWhereAChangeActs)
{
    using advisor::measureOf;
    EXPECT_EQ(measureOf({{"loader.workers", "0", "2"}}), "steps");
    EXPECT_EQ(measureOf({{"eval.no_grad", "false", "true"}}), "validation");
    EXPECT_EQ(measureOf({{"loader.workers", "0", "2"}, {"loader.persistent_workers", "false", "true"}}), "epoch");
    EXPECT_EQ(measureOf({{"debug.gradcheck", "true", "false"}}), "epoch");
    EXPECT_EQ(measureOf({{"debug.gradgradcheck", "true", "false"}}), "epoch");
}

TEST(ChangesOf, AccumulationLeavesAnUpdateItsSamples)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.setAssignment("batch.size=30"));
    ASSERT_TRUE(config.setAssignment("gradient.accumulation=2"));
    const auto parts = advisor::partsOfTheBatch(config);
    ASSERT_TRUE(parts);
    const auto changes = advisor::changesOf(*parts, config);
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].from + " " + changes[0].to, "2 4");
    EXPECT_EQ(changes[1].key + " " + changes[1].from + " " + changes[1].to, "batch.size 30 15");
    EXPECT_TRUE(advisor::keepTheBatch(changes));
    EXPECT_EQ(advisor::changesOf({"gradient.accumulation", "2", "7"}, config).size(), 1u) << "60 in 7 parts";
    EXPECT_EQ(advisor::changesOf({"checkpointing", "off", "all"}, config).size(), 1u);
    for (const char* undivided : {"batch.size=1", "batch.size=37"}) {
        ASSERT_TRUE(config.setAssignment(undivided));
        EXPECT_FALSE(advisor::partsOfTheBatch(config)) << undivided;
    }
}

TEST_P(RuleFixtures, WithoutAConfigurationThereIsNoToggle)
{
    Fixture fixture = GetParam();
    fixture.imported = true;
    const Judged judged(fixture);
    EXPECT_FALSE(judged.advice().toggle);
    if (judged.advice().state == State::Fires) {
        EXPECT_THAT(judged.advice().whyNoToggle.text, Not(IsEmpty()));
    }
}

INSTANTIATE_TEST_SUITE_P(All, RuleFixtures, testing::ValuesIn(fixtures()),
                         [](const testing::TestParamInfo<Fixture>& row) { return std::string(row.param.name); });

TEST(Rules, EachHasAFixtureForEachState)
{
    std::set<std::pair<std::string_view, State>> covered;
    for (const Fixture& fixture : fixtures())
        covered.insert({fixture.stem, fixture.state});
    for (const auto& rule : advisor::rules::all())
        for (const State state : {State::Fires, State::Silent, State::CannotTell})
            EXPECT_TRUE(covered.contains({rule.stem, state})) << rule.stem << ' ' << static_cast<int>(state);
}

TEST(Rules, AnEmptyTraceIsBeyondAllOfThem)
{
    for (const auto& rule : advisor::rules::all()) {
        const Judged imported(rule.stem, "", {}, true);
        EXPECT_NE(imported.advice().state, State::Fires) << rule.stem;
        EXPECT_THAT(imported.advice().reason.text, Not(IsEmpty())) << rule.stem;
    }
}

} // namespace
} // namespace advisor_test
