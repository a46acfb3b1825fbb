#include "tests/experiment/script.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <set>

namespace experiment_test {
namespace {

using namespace advisor;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ExperimentResult run(const ExperimentPlan& plan)
{
    auto result = runExperiment(plan, {}, {});
    if (!result)
        ADD_FAILURE() << result.error().message();
    return result ? *result : ExperimentResult{};
}

std::vector<std::string> noteIds(const ExperimentResult& result)
{
    std::vector<std::string> ids;
    for (const profiler::Message& note : result.notes)
        ids.push_back(note.id);
    return ids;
}

TEST(Experiment, AFiftyPercentSpeedupPays)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.01"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    EXPECT_LE(result.samplesPerSecond.low, 1.5);
    EXPECT_GE(result.samplesPerSecond.high, 1.5);
    EXPECT_LT(result.samplesPerSecond.high - result.samplesPerSecond.low, 0.2);
    EXPECT_NEAR(result.samplesPerSecondB / result.samplesPerSecondA, result.samplesPerSecond.value, 1e-9);
    EXPECT_EQ(result.pairs.size(), 6U);
    EXPECT_NEAR(result.unitUsA, 10'000, 300);
    EXPECT_NEAR(result.unitUsB, 10'000 / 1.5, 200);
    EXPECT_NEAR(result.savedUs.value, result.unitUsA - result.unitUsB, 50);
    EXPECT_LT(result.savedUs.low, result.savedUs.value);
    EXPECT_LT(result.savedUs.value, result.savedUs.high);
    EXPECT_EQ(result.peakBytesA, 1'000'000'000);
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse);
    EXPECT_GT(result.loss.a, 1);
    EXPECT_DOUBLE_EQ(result.loss.a, result.loss.b);
    EXPECT_EQ(result.loss.steps, 600U) << "a hundred in each turn";
    EXPECT_EQ(result.loss.seeds, 3U);
    EXPECT_EQ(result.why.id, "experiment.faster.loss_not_worse");
    EXPECT_EQ(result.why.find("ratio")->value, profiler::MessageParameter::Value(result.samplesPerSecond.value));
}

TEST(Experiment, OfATrainingOverSeveralProcessesTakesTurnsForAllThatCanBeMeasured)
{
    for (const char* measure : {"steps", "epoch", "validation"})
        for (const Objective by : {Objective::Time, Objective::Memory, Objective::LossAtEqualTime}) {
            const Script script{{"SCRIPT_SPEEDUP", "1.5"},
                                {"SCRIPT_NOISE", "0.01"},
                                {"SCRIPT_PEAK_FACTOR", "0.8"},
                                {"SCRIPT_VALIDATION", "100"}};
            ExperimentPlan plan = scriptedPlan();
            ASSERT_TRUE(plan.baseline.set("parallel.kind", "ddp"));
            plan.objective = by;
            plan.measure = measure;
            const auto result = run(plan);
            EXPECT_EQ(result.verdict, Verdict::Pays) << measure << ": " << result.why.text;
            EXPECT_FALSE(result.isSequential);
            EXPECT_NEAR(result.samplesPerSecond.value, 1.5, 0.05);
            EXPECT_EQ(result.peakBytesB, 800'000'000);
            EXPECT_THAT(script.log("turn"), testing::Not(testing::IsEmpty()));
        }
}

TEST(Experiment, TrainersThatDoNotFitIntoMemoryTogetherRunOneAtATime)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.01"}, {"SCRIPT_ONE_FITS", "1"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    EXPECT_TRUE(result.isSequential);
    EXPECT_EQ(result.pairs.size(), 6U);
    EXPECT_NEAR(result.samplesPerSecond.value, 1.5, 0.05);
    EXPECT_NEAR(result.unitUsA, 10'000, 300);
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse) << "the same steps, in processes of their own";
    EXPECT_THAT(noteIds(result), ElementsAre("experiment.note.one_at_a_time"));
    std::string order;
    for (const std::string& start : script.log("start"))
        order += start.back();
    EXPECT_TRUE(order.ends_with("abbaabbaabba")) << order;
}

TEST(Experiment, ThatEndsOneAtATimeIsOverAtItsBudget)
{
    const Script script{{"SCRIPT_REAL_TIME", "1"}, {"SCRIPT_ONE_FITS", "1"}};
    ExperimentPlan plan = scriptedPlan();
    plan.budget = std::chrono::seconds(1);
    const auto result = run(plan);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.why.id, "experiment.out_of_time.no_interval");
}

TEST(Experiment, SlowerCosts)
{
    const Script script{{"SCRIPT_SPEEDUP", "0.8"}, {"SCRIPT_NOISE", "0.01"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.verdict, Verdict::Costs) << result.why.text;
    EXPECT_LT(result.savedUs.high, 0);
}

TEST(Experiment, TheSameSpeedDoesNotPay)
{
    const Script script{{"SCRIPT_NOISE", "0.01"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay) << result.why.text;
    EXPECT_LE(result.samplesPerSecond.low, 1);
    EXPECT_GE(result.samplesPerSecond.high, 1);
}

TEST(Experiment, IdenticalArmsEndAtTheFirstLook)
{
    const Script script;
    ExperimentPlan plan = scriptedPlan();
    plan.changes.clear();
    const auto result = run(plan);
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay);
    EXPECT_EQ(result.pairs.size(), 6U);
}

TEST(Experiment, NeitherArmSearchesForItsOwnBatch)
{
    const Script script;
    ExperimentPlan plan = scriptedPlan();
    ASSERT_TRUE(plan.baseline.set("batch.find_max", "true"));
    const auto result = run(plan);
    EXPECT_THAT(script.log("searches"), testing::IsEmpty());
    EXPECT_THAT(noteIds(result), ElementsAre("experiment.note.no_batch_search"));
}

TEST(Experiment, TheSearchItselfCanBeTheChange)
{
    const Script script;
    ExperimentPlan plan = scriptedPlan();
    plan.changes.push_back({"batch.find_max", "false", "true"});
    EXPECT_THAT(noteIds(run(plan)), ElementsAre("experiment.note.screening")) << "losses from other batches";
    EXPECT_THAT(script.log("searches"), testing::Not(testing::IsEmpty()));
}

TEST(Experiment, ANoisyMachineIsInconclusiveAfterTheLastLook)
{
    // The noise in these scripts favours the change; its true speed compensates for that.
    const Script script{{"SCRIPT_NOISE", "0.7"}, {"SCRIPT_SPEEDUP", "0.75"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.pairs.size(), 20U);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive) << result.why.text;
    EXPECT_THAT(result.why.id, StartsWith("experiment.noise."));
}

TEST(Experiment, FasterWithAWorseLossDoesNotPay)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.5"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.loss.kind, LossKind::Worse);
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay);
    EXPECT_EQ(result.why.id, "experiment.loss_worse");
    EXPECT_NEAR(result.loss.b, result.loss.a * 1.5, 1e-9);
}

TEST(Experiment, AHigherLossIsNotExcusedByTheSpreadOfTheSeeds)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.02"}, {"SCRIPT_SEED_NOISE", "0.01"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.loss.kind, LossKind::Worse) << "two percent in each of the seeds";
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay);
}

TEST(Experiment, ALossWithinTheMarginIsNotWorse)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.005"}, {"SCRIPT_SEED_NOISE", "0.01"}};
    const auto result = run(scriptedPlan());
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse);
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
}

TEST(Experiment, FasterWithAnUnprovenLossIsInconclusiveAfterTheLastLook)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_NOISE", "0.2"}};
    ExperimentPlan plan = scriptedPlan();
    plan.changes.push_back({"zero_grad.set_to_none", "false", "true"});
    const auto result = run(plan);
    EXPECT_EQ(result.pairs.size(), 20U) << "more seeds would have more power";
    EXPECT_EQ(result.loss.kind, LossKind::NotShown);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.why.id, "experiment.loss_not_shown");
}

TEST(Experiment, NoiseOfTheLossesDoesNotMatterIfTheChangeCannotAffectThem)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_NOISE", "0.2"}};
    const auto result = run(scriptedPlan()); // loader workers
    EXPECT_EQ(result.loss.kind, LossKind::NotShown);
    EXPECT_EQ(result.verdict, Verdict::Pays);
    EXPECT_EQ(result.why.id, "experiment.faster.loss_not_affected");
    EXPECT_EQ(result.pairs.size(), 6U) << "no more seeds for the losses";
}

ExperimentPlan otherBatchPlan()
{
    ExperimentPlan plan = scriptedPlan();
    plan.changes.push_back({"batch.size", "", "128"});
    return plan;
}

TEST(Experiment, OtherBatchesAreComparedByTheLossAtEqualTime)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.5"}};
    const auto result = run(otherBatchPlan());
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay) << result.why.text;
    EXPECT_EQ(result.loss.kind, LossKind::Worse);
    EXPECT_EQ(result.loss.at, LossCheck::At::EqualTime);
    ASSERT_TRUE(result.lossAtEqualTime);
    EXPECT_NEAR(result.lossAtEqualTime->seconds, 2, 0.1) << "two turns of a second";
    EXPECT_NEAR(result.loss.b / result.loss.a, 1.5, 0.01);
}

TEST(Experiment, OtherBatchesPayIfTheLossAtEqualTimeIsNotWorse)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_NOISE", "0.001"}};
    const auto result = run(otherBatchPlan());
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse);
    // Both train for equal time, whatever the number of steps.
    EXPECT_THAT(script.log("turn a"), testing::Contains("turn a steps 5 100"));
    EXPECT_THAT(script.log("turn b"), testing::Contains("turn b steps 5 150"));
}

// Samples per second alone never decide about other batches.
TEST(Experiment, OtherBatchesWithAnUnprovenLossAreInconclusive)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.05"}, {"SCRIPT_LOSS_NOISE", "0.1"}};
    const auto result = run(otherBatchPlan());
    EXPECT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.loss.kind, LossKind::NotShown);
    EXPECT_EQ(result.why.id, "experiment.loss_not_shown");
}

TEST(Experiment, OtherBatchesOfOneTrainerAtATimeAreComparedByTheLossAtEqualTime)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_NOISE", "0.001"}, {"SCRIPT_ONE_FITS", "1"}};
    const auto result = run(otherBatchPlan());
    EXPECT_TRUE(result.isSequential);
    EXPECT_EQ(result.loss.at, LossCheck::At::EqualTime);
    EXPECT_EQ(result.loss.kind, LossKind::NotWorse);
    EXPECT_EQ(result.loss.seeds, 3U);
    EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
    ASSERT_TRUE(result.lossAtEqualTime);
    EXPECT_NEAR(result.lossAtEqualTime->seconds, 1, 0.1) << "each turn is a training of its own";
    const Script worse{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.5"}, {"SCRIPT_ONE_FITS", "1"}};
    EXPECT_EQ(run(otherBatchPlan()).verdict, Verdict::DoesNotPay);
}

TEST(Experiment, AGrantedHorizonIsSharedByTheTurnsOfOtherBatches)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}};
    ExperimentPlan plan = otherBatchPlan();
    plan.horizon = std::chrono::seconds(6);
    EXPECT_NEAR(run(plan).lossAtEqualTime->seconds, 6, 0.1);
    EXPECT_THAT(script.log("turn a"), testing::Contains("turn a steps 5 300"));
}

TEST(Experiment, TurnsAlternateAndBothTrainersRestartEveryTwoPairs)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}};
    run(scriptedPlan());
    EXPECT_EQ(script.log("start").size(), 6U);
    EXPECT_THAT(script.log("trains"),
                testing::UnorderedElementsAre(HasSubstr("a seed 1 "), HasSubstr("b seed 1 "), HasSubstr("a seed 2 "),
                                              HasSubstr("b seed 2 "), HasSubstr("a seed 3 "), HasSubstr("b seed 3 ")));
    // Steps of ten milliseconds: only measured turns have a hundred of them. Two workers prefetch two batches each.
    std::string order;
    for (const std::string& turn : script.log("turn"))
        if (turn.ends_with(" 100"))
            order += turn[5];
    EXPECT_EQ(order, "abba"
                     "abba"
                     "abba");
    EXPECT_THAT(script.log("turn"), testing::Each(HasSubstr(" steps 5 ")));
}

TEST(Experiment, BothArmsAreAtTheSameBatchesThroughout)
{
    const Script script{{"SCRIPT_SPEEDUP", "3"}, {"SCRIPT_WARM_UP_STEPS", "20"}, {"SCRIPT_NOISE", "0.02"}};
    run(scriptedPlan());
    std::vector<std::string> a, b;
    for (const std::string& turn : script.log("turn"))
        (turn[5] == 'a' ? a : b).push_back(turn.substr(7));
    EXPECT_EQ(a, b);
}

TEST(Experiment, SlowFirstStepsAreNotMeasured)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_WARM_UP_STEPS", "12"}};
    const auto result = run(scriptedPlan());
    EXPECT_NEAR(result.unitUsA, 10'000, 1);
    EXPECT_NEAR(result.samplesPerSecond.value, 1.5, 1e-6);
    for (const WarmUpReport::OfArm& arm : result.warmUp.arms) {
        EXPECT_TRUE(arm.ended);
        EXPECT_EQ(arm.steps, 3) << "of the timed steps: others are dropped at the start of each turn";
        EXPECT_THAT(arm.causes, IsEmpty()) << "nothing shows why";
    }
}

TEST(Experiment, KnownCausesOfAWarmUpAreNamed)
{
    const Script script{{"SCRIPT_WARM_UP_STEPS", "12"}, {"SCRIPT_GROWING_PEAK", "1"}};
    ExperimentPlan plan = scriptedPlan();
    ASSERT_TRUE(plan.baseline.set("cudnn.benchmark", "true"));
    plan.changes.push_back({"compile", "false", "true"});
    const auto result = run(plan);
    EXPECT_THAT(result.warmUp.arms[0].causes, ElementsAre("autotuning", "allocator growth"));
    EXPECT_THAT(result.warmUp.arms[1].causes, ElementsAre("autotuning", "compilation", "allocator growth"));
    EXPECT_THAT(noteIds(result), ElementsAre("experiment.note.warm_up_causes", "experiment.note.warm_up_causes"));
}

TEST(Experiment, AWarmUpThatDoesNotEndIsReportedAtItsTimeLimit)
{
    const Script script{{"SCRIPT_FASTER_BY", "0.03"}, {"SCRIPT_STEP_US", "1000000"}};
    const auto result = run(scriptedPlan());
    EXPECT_FALSE(result.warmUp.arms[0].ended);
    EXPECT_GT(result.warmUp.limitSeconds, 0);
    EXPECT_THAT(noteIds(result), testing::Contains("experiment.note.warm_up_limit"));
}

TEST(Experiment, TurnsLastAsLongAsThePlanSays)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}};
    ExperimentPlan plan = scriptedPlan();
    plan.turn = std::chrono::milliseconds(300);
    run(plan);
    EXPECT_THAT(script.log("turn").back(), testing::EndsWith(" 30"));
}

TEST(Experiment, ATurnHasAtLeastFiveSteps)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_STEP_US", "2000000"}};
    run(scriptedPlan());
    EXPECT_THAT(script.log("turn").back(), testing::EndsWith(" 5"));
}

TEST(Experiment, EpochsAndValidationsAreTimedAsAWhole)
{
    for (const char* what : {"epoch", "validation"}) {
        const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_STEP_US", "400000"}};
        ExperimentPlan plan = scriptedPlan();
        plan.measure = what;
        const auto result = run(plan);
        EXPECT_EQ(result.verdict, Verdict::Pays) << result.why.text;
        EXPECT_NEAR(result.unitUsA, 400'000, 1);
        EXPECT_THAT(script.log("turn").back(), testing::EndsWith(std::string(what) + " 0 3")) << "about a second";
        EXPECT_THAT(script.log("turn").front(), HasSubstr("steps 0 10")) << "the losses of some steps";
        EXPECT_DOUBLE_EQ(result.loss.a, result.loss.b);
        EXPECT_GT(result.loss.a, 0);
    }
}

TEST(Experiment, ProgressReportsPairsRatioAndTime)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.01"}};
    std::vector<ExperimentProgress> all;
    const auto result =
        runExperiment(scriptedPlan(), [&](const ExperimentProgress& progress) { all.push_back(progress); }, {});
    ASSERT_TRUE(result);
    std::vector<std::string> doing;
    std::size_t pairs = 0;
    for (const ExperimentProgress& progress : all) {
        EXPECT_GE(progress.pairs.size(), pairs);
        pairs = progress.pairs.size();
        EXPECT_EQ(progress.ratio.has_value(), pairs >= 4);
        EXPECT_GT(progress.secondsLeft, 0);
        if (doing.empty() || doing.back() != progress.doing)
            doing.push_back(progress.doing);
    }
    EXPECT_EQ(pairs, 6U);
    const std::string ready = "looking at the images: 3 of 3";
    EXPECT_THAT(std::erase(doing, ready), testing::Ge(1));
    EXPECT_THAT(doing,
                ElementsAre("starting the trainers", "warming up", "pair 1 of at most 20", "pair 2 of at most 20",
                            "starting the trainers", "warming up", "pair 3 of at most 20", "pair 4 of at most 20",
                            "starting the trainers", "warming up", "pair 5 of at most 20", "pair 6 of at most 20"));
}

TEST(Experiment, AWrongChangeNamesTheKey)
{
    const Script script;
    ExperimentPlan plan = scriptedPlan();
    plan.changes = {{"loader.wokers", "0", "2"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message(), HasSubstr("loader.wokers"));
    plan = scriptedPlan();
    plan.measure = "minutes";
    EXPECT_FALSE(runExperiment(plan, {}, {}));
    EXPECT_TRUE(script.log("start").empty());
}

TEST(ExpectedDuration, GrowsWithTheStepAndStaysInTheBudget)
{
    ExperimentPlan plan = scriptedPlan();
    const auto quick = expectedDuration(plan, 10'000), slow = expectedDuration(plan, 2'000'000);
    EXPECT_GE(quick.count(), 20);
    EXPECT_LE(quick.count(), 90);
    EXPECT_GT(slow.count(), 4 * quick.count());
    plan.budget = std::chrono::seconds(15);
    EXPECT_EQ(expectedDuration(plan, 10'000).count(), 15);
}

TEST(VerdictName, IsWhatUsersRead)
{
    EXPECT_EQ(verdictName(Verdict::Pays), "pays");
    EXPECT_EQ(verdictName(Verdict::DoesNotPay), "does not pay");
    EXPECT_EQ(verdictName(Verdict::Costs), "costs");
    EXPECT_EQ(verdictName(Verdict::Inconclusive), "inconclusive");
}

TEST(Experiment, FilesOfTheTrainingStayAndTemporaryOnesAreRemoved)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(testing::TempDir()) / "stepscope_scratch_files";
    fs::remove_all(folder);
    fs::create_directories(folder / "checkpoints");
    std::ofstream(folder / "steps.log") << "the user's";
    std::ofstream(folder / "checkpoints" / "step5.checkpoint") << "the user's";
    ExperimentPlan plan = scriptedPlan();
    ASSERT_TRUE(plan.baseline.set("run.log_file", (folder / "steps.log").string()));
    ASSERT_TRUE(plan.baseline.set("run.checkpoint_every", "5"));
    ASSERT_TRUE(plan.baseline.set("run.checkpoint_path", (folder / "checkpoints").string()));

    const Script script{{"SCRIPT_SPEEDUP", "1.5"}};
    const auto result = runExperiment(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->plan.baseline.text("run.log_file"), (folder / "steps.log").string());
    auto written = script.log("writes");
    ASSERT_EQ(written.size(), 2 * script.log("start").size()) << "both are written, since writing is timed";
    std::sort(written.begin(), written.end());
    written.erase(std::unique(written.begin(), written.end()), written.end());
    ASSERT_EQ(written.size(), 4U) << "each arm has its own";
    for (const std::string& path : written)
        EXPECT_THAT(path, AllOf(StartsWith("writes " + folder.string()), HasSubstr("/.stepscope-"))) << "the same disk";
    std::size_t left = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        ++left;
        std::string text;
        if (entry.is_regular_file() && std::getline(std::ifstream(entry.path()), text)) {
            EXPECT_EQ(text, "the user's");
        }
    }
    EXPECT_EQ(left, 3U);
    fs::remove_all(folder);
}

TEST(Experiment, UnwritableFilesAreReportedBeforeAnythingRuns)
{
    ExperimentPlan plan = scriptedPlan();
    ASSERT_TRUE(plan.baseline.set("run.log_file", "/proc/steps.log"));
    const Script script;
    const auto result = runExperiment(plan, {}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message(), HasSubstr("/proc"));
    EXPECT_THAT(script.log("start"), IsEmpty());
}

} // namespace
} // namespace experiment_test
