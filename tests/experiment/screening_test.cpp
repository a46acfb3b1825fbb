#include "advisor/experiment/timing.h"
#include "tests/experiment/script.h"
#include "tests/support/message_matchers.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <sstream>

namespace experiment_test {
namespace {

using namespace advisor;
using testing::ElementsAre;
using testing::HasSubstr;

/// Steps of ten milliseconds, two seconds of them per seed.
ExperimentPlan screeningPlan()
{
    ExperimentPlan plan = scriptedPlan();
    plan.objective = Objective::LossAtEqualTime;
    plan.horizon = std::chrono::seconds(2);
    return plan;
}

ExperimentResult run(const ExperimentPlan& plan)
{
    auto result = runExperiment(plan, {}, {});
    if (!result)
        ADD_FAILURE() << result.error().message();
    if (result)
        return *result;
    ExperimentResult none;
    none.lossAtEqualTime.emplace();
    return none;
}

TEST(Screening, ALowerValidationLossPays)
{
    const Script script{{"SCRIPT_LOSS_FACTOR", "0.8"},
                        {"SCRIPT_SEED_NOISE", "0.05"},
                        {"SCRIPT_LOSS_NOISE", "0.01"},
                        {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    ASSERT_TRUE(result.lossAtEqualTime);
    const LossAtEqualTime& losses = *result.lossAtEqualTime;
    EXPECT_TRUE(losses.validation);
    EXPECT_DOUBLE_EQ(losses.seconds, 2);
    EXPECT_EQ(losses.seeds.size(), 3U) << "such a clear difference ends at the first look";
    EXPECT_NEAR(losses.b / losses.a, 0.8, 0.05);
    EXPECT_NEAR(losses.saved.value, losses.a - losses.b, 1e-9);
    EXPECT_GT(losses.saved.low, 0);
    EXPECT_LT(losses.saved.low, 0.2 * losses.a);
    EXPECT_GT(losses.saved.high, 0.2 * losses.a);
    EXPECT_EQ(result.why.id, "experiment.screening.lower");
    EXPECT_EQ(result.why.find("seconds")->value, profiler::MessageParameter::Value(2.0));
    ASSERT_FALSE(result.notes.empty());
    EXPECT_EQ(result.notes.front().id, "experiment.note.screening") << "seconds of training show no convergence";
    EXPECT_THAT(script.log("turn b validation"), testing::SizeIs(3));
}

TEST(Screening, AHigherLossCosts)
{
    const Script script{{"SCRIPT_LOSS_FACTOR", "1.2"}, {"SCRIPT_LOSS_NOISE", "0.01"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.verdict, Verdict::Costs) << result.why.text;
    EXPECT_LT(result.lossAtEqualTime->saved.high, 0);
    EXPECT_EQ(result.loss.kind, LossKind::Worse);
    EXPECT_EQ(result.why.id, "experiment.screening.higher");
}

TEST(Screening, TheSameLossDoesNotPay)
{
    const Script script{{"SCRIPT_SEED_NOISE", "0.3"}, {"SCRIPT_LOSS_NOISE", "0.001"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay) << result.why.text;
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse);
    EXPECT_EQ(result.loss.at, LossCheck::At::EqualTime);
    EXPECT_EQ(result.why.id, "experiment.screening.no_difference");
}

TEST(Screening, NoisySeedsAreInconclusiveAfterTheLastLook)
{
    const Script script{{"SCRIPT_LOSS_NOISE", "0.5"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.lossAtEqualTime->seeds.size(), 10U);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive) << result.why.text;
    EXPECT_EQ(result.why.id, "experiment.screening.seeds_differ");
    EXPECT_EQ(result.loss.kind, LossKind::NotShown);
}

TEST(Screening, WithoutValidationTheEndOfTheTrainingIsCompared)
{
    const Script script{{"SCRIPT_LOSS_FACTOR", "0.9"}, {"SCRIPT_LOSS_NOISE", "0.001"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    EXPECT_FALSE(result.lossAtEqualTime->validation);
    // 1 + 1 / step, over the last fifth of 205 steps.
    EXPECT_NEAR(result.lossAtEqualTime->a, 1 + 1.0 / 185, 0.003);
    EXPECT_TRUE(script.log("turn b validation").empty());
}

/// Timed steps of an arm after the start, counted from this line of the log on.
struct Work {
    std::int64_t a = 0, b = 0;
};

TEST(Screening, BothTrainTheSameTimeWhateverTheirSpeed)
{
    const Script script{{"SCRIPT_SPEEDUP", "2"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_NEAR(result.unitUsA, 10'000, 1);
    EXPECT_NEAR(result.unitUsB, 5'000, 1);
    EXPECT_NEAR(result.samplesPerSecond.value, 2, 1e-6);
    // Before: those that showed how fast both are.
    Work work;
    std::size_t starts = 0;
    for (const std::string& line : script.log("")) {
        starts += line.starts_with("start") ? 1 : 0;
        std::istringstream words(line);
        std::string turn, arm, what;
        std::int64_t drop = 0, count = 0;
        if (starts > 2 && words >> turn >> arm >> what >> drop >> count && turn == "turn" && what == "steps")
            (arm == "a" ? work.a : work.b) += count;
    }
    // Five steps of each start are untimed, the same number in both arms.
    EXPECT_EQ(work.a, 3 * (200 + 5));
    EXPECT_EQ(work.b, 3 * (400 + 5));
}

TEST(Screening, EachSeedIsTrainedByBothAndTheScheduleEndsWithTheTime)
{
    const Script script{{"SCRIPT_SPEEDUP", "2"}, {"SCRIPT_VALIDATION", "100"}};
    ExperimentPlan plan = screeningPlan();
    ASSERT_TRUE(plan.baseline.set("run.seed", "2147483646"));
    run(plan);
    EXPECT_THAT(script.log("trains"),
                testing::UnorderedElementsAre(
                    "trains a seed 2147483646 for 0 steps", "trains b seed 2147483646 for 0 steps",
                    "trains a seed 2147483646 for 205 steps", "trains b seed 2147483646 for 405 steps",
                    "trains a seed 2147483647 for 205 steps", "trains b seed 2147483647 for 405 steps",
                    "trains a seed 0 for 205 steps", "trains b seed 0 for 405 steps"));
}

TEST(Screening, ScheduleSettingsInStepsAreRescaledToTheHorizon)
{
    const Script script{{"SCRIPT_SPEEDUP", "2"}, {"SCRIPT_VALIDATION", "100"}};
    ExperimentPlan plan = screeningPlan();
    for (const char* assignment : {"run.steps=2050", "schedule.warmup_steps=500", "schedule.step_size=1000"})
        ASSERT_TRUE(plan.baseline.setAssignment(assignment));
    plan.changes.push_back({"schedule.warmup_steps", "500", "0"});
    const auto result = run(plan);
    // 205 of 2,050 steps in the baseline, 405 in the change, which is twice as fast.
    EXPECT_THAT(result.rescaled[0], testing::IsSupersetOf({RescaledSetting{"schedule.warmup_steps", "500", "50"},
                                                           RescaledSetting{"schedule.step_size", "1000", "100"},
                                                           RescaledSetting{"schedule.cycle_steps", "500", "50"}}));
    EXPECT_THAT(result.rescaled[1], testing::UnorderedElementsAre(RescaledSetting{"schedule.step_size", "1000", "198"},
                                                                  RescaledSetting{"schedule.cycle_steps", "500", "99"}))
        << "no warm-up stays none";
    std::vector<std::string> ids;
    for (const profiler::Message& note : result.notes)
        ids.push_back(note.id);
    EXPECT_THAT(ids, testing::Contains("experiment.note.rescaled").Times(5));
}

TEST(Screening, HalvesAlternate)
{
    const Script script{{"SCRIPT_VALIDATION", "100"}};
    run(screeningPlan());
    std::string order;
    for (const std::string& turn : script.log("turn"))
        if (turn.ends_with(" 100"))
            order += turn[5];
    EXPECT_EQ(order, "abba"
                     "baab"
                     "abba");
}

TEST(Screening, ADivergedTrainingCosts)
{
    const Script script{{"SCRIPT_LOST", "1"}, {"SCRIPT_LOSS_NOISE", "0.05"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = run(screeningPlan());
    EXPECT_EQ(result.verdict, Verdict::Costs) << result.why.text;
    EXPECT_THAT(result.lossAtEqualTime->diverged, ElementsAre(0, 3));
    EXPECT_EQ(result.loss.kind, LossKind::Worse);
    const auto diverged = std::find_if(result.notes.begin(), result.notes.end(),
                                       [](const auto& note) { return note.id == "experiment.note.diverged"; });
    ASSERT_NE(diverged, result.notes.end());
    EXPECT_EQ(diverged->find("count")->value, profiler::MessageParameter::Value(std::int64_t{3}));
}

TEST(Screening, TheLossOfTheFirstStepMustBeFinite)
{
    const Script script{{"SCRIPT_LOSS_FACTOR", "-1"}, {"SCRIPT_VALIDATION", "100"}};
    const auto result = runExperiment(screeningPlan(), {}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, profiler::test::hasId("experiment.loss_no_ratio"));
}

TEST(Screening, TheBudgetEndsIt)
{
    const Script script{{"SCRIPT_REAL_TIME", "1"}, {"SCRIPT_VALIDATION", "100"}};
    ExperimentPlan plan = screeningPlan();
    plan.horizon = std::chrono::seconds(60);
    plan.budget = std::chrono::seconds(1);
    const auto result = run(plan);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.why.id, "experiment.screening.out_of_time.no_interval");
}

TEST(Screening, CanBeStopped)
{
    const Script script{{"SCRIPT_VALIDATION", "100"}};
    std::stop_source stop;
    const auto tell = [&](const ExperimentProgress& progress) {
        if (progress.pairs.size() == 1)
            stop.request_stop();
    };
    const auto result = runExperiment(screeningPlan(), tell, stop.get_token());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, profiler::Error::Code::Cancelled);
}

TEST(Screening, ProgressReportsSeedsLossAndTime)
{
    const Script script{{"SCRIPT_LOSS_FACTOR", "0.9"}, {"SCRIPT_LOSS_NOISE", "0.001"}, {"SCRIPT_VALIDATION", "100"}};
    std::vector<std::string> doing;
    bool toldLoss = false;
    const auto result = runExperiment(screeningPlan(),
                                      [&](const ExperimentProgress& progress) {
                                          EXPECT_EQ(progress.savedLoss.has_value(), progress.pairs.size() >= 2);
                                          toldLoss = toldLoss || (progress.savedLoss && progress.savedLoss->value > 0);
                                          EXPECT_GT(progress.secondsLeft, 0);
                                          if (doing.empty() || doing.back() != progress.doing)
                                              doing.push_back(progress.doing);
                                      },
                                      {});
    ASSERT_TRUE(result);
    EXPECT_TRUE(toldLoss);
    EXPECT_THAT(doing, testing::IsSupersetOf({"starting the trainers", "warming up",
                                              "seed 1 of at most 10: the baseline, 0 of 2 s",
                                              "seed 2 of at most 10: the change loader.workers=2, 1 of 2 s"}));
}

TEST(Screening, LossesOfOtherDataAreNotCompared)
{
    const Script script;
    ExperimentPlan plan = screeningPlan();
    plan.changes = {{"optimizer.kind", "sgd", "adamw"}, {"dataset.samples", "2000", "4000"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message(), HasSubstr("dataset.samples"));
    EXPECT_TRUE(script.log("start").empty());
}

TEST(Screening, AugmentationIsJudgedOnlyByAValidation)
{
    ExperimentPlan plan = screeningPlan();
    plan.changes = {{"augment.enabled", "true", "false"}};
    {
        const Script script;
        const auto result = runExperiment(plan, {}, {});
        ASSERT_FALSE(result);
        EXPECT_THAT(result.error().message(), HasSubstr("dataset.validation_share"));
    }
    const Script script{{"SCRIPT_VALIDATION", "100"}};
    EXPECT_TRUE(run(plan).lossAtEqualTime->validation);
}

TEST(Horizon, IsTheWholeTrainingIfThatIsShort)
{
    ExperimentPlan plan;
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 0.01, 12, 2), 12);
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 0.01, 3600, 2), 20);
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 0.01, 0, 2), 20) << "its length is not known";
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 3, 3600, 2), 60) << "twenty steps at least";
    plan.horizon = std::chrono::seconds(30);
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 0.01, 12, 2), 30);
}

TEST(Horizon, FitsSixSeedsIntoTheBudget)
{
    ExperimentPlan plan;
    plan.budget = std::chrono::seconds(120);
    EXPECT_DOUBLE_EQ(horizonSeconds(plan, 0.01, 3600, 4), (120.0 / 6 - 4) / 2);
}

TEST(ExpectedDuration, OfLearningIsThatOfSixSeeds)
{
    ExperimentPlan plan = screeningPlan();
    plan.horizon = {};
    const auto expected = expectedDuration(plan, 10'000).count();
    EXPECT_GE(expected, 6 * 2 * 20);
    EXPECT_LE(expected, 6 * 2 * 20 + 30);
    EXPECT_EQ(expectedDuration(plan, 10'000, 5e6).count(), expected + (6 * 2 + 1) * 5)
        << "both arms are validated with each seed, and one once before";
    plan.budget = std::chrono::seconds(60);
    EXPECT_LE(expectedDuration(plan, 10'000).count(), 60);
}

} // namespace
} // namespace experiment_test
