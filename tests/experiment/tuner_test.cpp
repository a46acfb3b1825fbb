#include "advisor/tuner/tuner.h"

#include "advisor/tips.h"
#include "advisor/tuner/tune_text.h"
#include "tests/experiment/script.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <thread>

namespace experiment_test {
namespace {

using namespace advisor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Half of the step is spent waiting for data while workers are 0.
constexpr std::string_view kWaits = R"(
    meta host.cores 2
    meta host.threads 1
    main
      repeat 20 every 1000
        step 0 0 1000
        phase "data wait" 0 500
        stage decode 0 490
        phase forward 500 500
      end
)";
constexpr std::string_view kBusy =
    "meta host.cores 2\nmain\nrepeat 20 every 1000\nstep 0 0 1000\nphase forward 0 1000\nend\n";

TunePlan planWith(int& recordings)
{
    TunePlan plan;
    plan.trainer = scriptedTrainer();
    plan.record = [&recordings](const config::TrainingConfig& config, const std::stop_token&) {
        ++recordings;
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(
            test_support::traceFromText(config[config::key::workers] == 0 ? kWaits : kBusy));
    };
    return plan;
}

std::vector<std::string> outcomes(const TuneResult& result)
{
    std::vector<std::string> rows;
    for (const TuneTrial& trial : result.trials)
        rows.push_back(trial.change.key + "=" + trial.change.to + " " + std::string(outcomeName(trial.outcome)));
    return rows;
}

TEST(Tuner, KeepsChangesThatPayAndRecordsAgain)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0;
    const auto result = tune(planWith(recordings), {}, {});
    ASSERT_TRUE(result) << result.error().message();
    // One worker pays; two are equally fast (the script does not distinguish them) and are not kept.
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=1 kept", "loader.workers=2 dropped"));
    EXPECT_EQ(result->best[config::key::workers], 1);
    EXPECT_EQ(result->start[config::key::workers], 0);
    EXPECT_NEAR(result->ratio.value, 1.5, 0.1);
    ASSERT_TRUE(result->whole) << "the start against all kept changes";
    EXPECT_EQ(result->whole->plan.baseline, result->start);
    EXPECT_EQ(result->ratio.value, result->whole->samplesPerSecond.value);
    EXPECT_EQ(recordings, 2);
    EXPECT_FALSE(result->stopped);
    ASSERT_TRUE(result->trials.front().predicted);
}

TEST(Tuner, DropsChangesThatDoNotPay)
{
    const Script script{{"SCRIPT_SPEEDUP", "0.8"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0;
    const auto result = tune(planWith(recordings), {}, {});
    ASSERT_TRUE(result);
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=1 dropped"));
    EXPECT_EQ(result->best, result->start);
    EXPECT_DOUBLE_EQ(result->ratio.value, 1);
    EXPECT_EQ(recordings, 1);
}

TEST(Tuner, NamesTheChangeThatTookTheTime)
{
    const Script script{{"SCRIPT_SPEEDUP", "0.8"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0;
    TunePlan plan = planWith(recordings);
    plan.budget = std::chrono::seconds(2);
    const auto begin = std::chrono::steady_clock::now();
    // These trainers only report how long their steps take: the time passes here.
    const auto stall = [&](const TuneProgress& state) {
        if (state.doing.starts_with("pair 2"))
            std::this_thread::sleep_until(begin + plan.budget);
    };
    const auto result = tune(plan, stall, {});
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_EQ(result->trials.size(), 1U);
    ASSERT_EQ(result->why.id, "tune.ended.budget_by_one");
    EXPECT_EQ(result->why.find("key")->text, "loader.workers");
}

TEST(TuneText, ShowsARatioOnlyIfOneWasMeasured)
{
    TuneResult result;
    EXPECT_EQ(tuneSummary(result), "No change was tried: the settings stay as they are.");
    result.trials.resize(2);
    result.trials[0].outcome = TuneTrial::Outcome::Skipped;
    result.trials[1].outcome = TuneTrial::Outcome::Failed;
    EXPECT_THAT(tuneSummary(result), HasSubstr("No tried change could be measured"));
    result.trials[0].outcome = TuneTrial::Outcome::Dropped;
    result.trials[0].result.emplace();
    EXPECT_EQ(tuneSummary(result), "Measured 1 change; none was shown to pay: the settings stay as they are.");
    EXPECT_EQ(trialVerdict(result.trials[0]), verdictName(result.trials[0].result->verdict));
    result.trials[1].outcome = TuneTrial::Outcome::Kept; // by memory or loss: no ratio
    result.trials[1].result.emplace();
    EXPECT_THAT(tuneSummary(result), HasSubstr("was not measured"));
    result.ratio = {1.5, 1.4, 1.6};
    EXPECT_EQ(tuneSummary(result), "1.50 × the samples per second (at least 1.40, at most 1.60): 1 of 2 changes kept.");
    EXPECT_TRUE(isShownFaster(result));
    result.ratio = {1.5, 0.8, 2.9};
    EXPECT_FALSE(isShownFaster(result));
    EXPECT_THAT(tuneSummary(result), HasSubstr("together they are not shown to be faster: 1.50 ×"));
}

TEST(Tuner, ContinuesAfterATrialThatFails)
{
    const Script script{{"SCRIPT_DO_AT", "turn 2"}, {"SCRIPT_DO", "signal 9"}, {"SCRIPT_DO_IN_B", "1"}};
    int recordings = 0;
    const auto result = tune(planWith(recordings), {}, {});
    ASSERT_TRUE(result);
    ASSERT_THAT(outcomes(*result), ElementsAre("loader.workers=1 failed"));
    EXPECT_EQ(result->trials[0].why.id, "tune.failed");
    EXPECT_THAT(result->trials[0].whyText(), HasSubstr("signal 9"));
    EXPECT_EQ(result->best, result->start);
}

TEST(Tuner, AStopReturnsTheBestSoFar)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0;
    std::stop_source stop;
    const auto result = tune(
        planWith(recordings),
        [&](const TuneProgress& state) {
            if (!state.trials.empty())
                stop.request_stop();
        },
        stop.get_token());
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->stopped);
    EXPECT_EQ(result->best[config::key::workers], 1);
    EXPECT_EQ(result->why.id, "tune.ended.stopped");
}

TEST(Tuner, KeptChangesStayIfALaterTrialFails)
{
    // One worker pays; the trainer with two workers appears to run out of memory.
    const Script script{{"SCRIPT_SPEEDUP", "1.5"},
                        {"SCRIPT_NOISE", "0.005"},
                        {"SCRIPT_DO_AT", "turn 2"},
                        {"SCRIPT_DO", "signal 9"},
                        {"SCRIPT_DO_WITH", "loader.workers=2"}};
    int recordings = 0;
    const auto result = tune(planWith(recordings), {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=1 kept", "loader.workers=2 failed"));
    EXPECT_EQ(result->best[config::key::workers], 1);
    EXPECT_NEAR(result->ratio.value, 1.5, 0.1);
}

TEST(Tuner, KeptChangesStayIfTheyCannotBeRecordedAgain)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0;
    TunePlan plan = planWith(recordings);
    plan.record = [record = plan.record](const config::TrainingConfig& config, const std::stop_token& stop) {
        if (config[config::key::workers] == 0)
            return record(config, stop);
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(tl::unexpected(
            profiler::Error{profiler::Error::Code::Unavailable, {"test.crashed", {}, "The trainer crashed"}, {}, {}}));
    };
    const auto result = tune(plan, {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->best[config::key::workers], 1);
    ASSERT_FALSE(result->trials.front().notes.empty());
    EXPECT_EQ(result->trials.front().notes.back().id, "tune.not_recorded");
    EXPECT_THAT(result->trials.front().whyText(), HasSubstr("The trainer crashed"));
}

TEST(Tuner, ReportsItsProgress)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}};
    int recordings = 0, rounds = 0;
    bool tried = false, measured = false;
    const auto result = tune(planWith(recordings),
                             [&](const TuneProgress& state) {
                                 rounds = state.round;
                                 tried =
                                     tried || (state.trying && state.trying->to == "1" && state.trying->from == "0");
                                 measured = measured || (state.trying && state.ratio && state.ratio->value > 1.2);
                             },
                             {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(rounds, 2);
    EXPECT_TRUE(tried);
    EXPECT_TRUE(measured);
    EXPECT_EQ(result->trials.front().rule, "loader.workers");
    EXPECT_EQ(result->trials.back().rule, "loader.workers");
}

TEST(Tuner, AStopBeforeTheFirstRecordingReturnsTheStart)
{
    const Script script;
    TunePlan plan;
    plan.trainer = scriptedTrainer();
    std::stop_source stop;
    plan.record = [&](const config::TrainingConfig&, const std::stop_token&) {
        stop.request_stop();
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(tl::unexpected(profiler::Error{
            profiler::Error::Code::Cancelled, {"test.cancelled", {}, "The recording was cancelled"}, {}, {}}));
    };
    const auto result = tune(plan, {}, stop.get_token());
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->stopped);
    EXPECT_EQ(result->best, result->start);
    EXPECT_THAT(result->trials, IsEmpty());
}

TEST(TunedCode, CoversTheSettingsThatDifferInTheEnd)
{
    TuneResult result;
    ASSERT_TRUE(result.best.set("loader.workers", "4"));
    const auto kept = [](const char* from, const char* to) {
        TuneTrial trial;
        trial.change = {"loader.workers", from, to};
        trial.rule = "loader.workers";
        trial.outcome = TuneTrial::Outcome::Kept;
        return trial;
    };
    result.trials = {kept("0", "2"), kept("2", "4")};
    const auto code = codeToPaste(result);
    ASSERT_EQ(code.size(), 1U);
    EXPECT_EQ(code[0].setting.b, "4");
    EXPECT_THAT(std::string(code[0].python), HasSubstr("num_workers"));
    EXPECT_THAT(codeText(result, tip_section::kPyTorch), HasSubstr("# loader.workers: 4 instead of 0\n"));
    EXPECT_THAT(codeText(result, tip_section::kLibTorch), HasSubstr("// loader.workers: 4 instead of 0\n"));
    EXPECT_THAT(codeMarkdown(result), HasSubstr("```python\n"));
    EXPECT_THAT(codeMarkdown({}), HasSubstr("no code to copy"));
}

TEST(TunedCode, OfABatchInPartsIsThatOfTheParts)
{
    TuneResult result;
    ASSERT_TRUE(result.start.set("batch.size", "64"));
    ASSERT_TRUE(result.best.set("batch.size", "16"));
    ASSERT_TRUE(result.best.set("gradient.accumulation", "4"));
    const auto code = codeToPaste(result);
    ASSERT_EQ(code.size(), 1U) << "an update uses the same number of samples, so the rate stays";
    EXPECT_EQ(code[0].rule, "gradient.accumulation");
    ASSERT_TRUE(result.best.set("batch.size", "32"));
    EXPECT_EQ(codeToPaste(result).size(), 2U);
}

TEST(Tuner, AStartThatCannotBeTrainedIsAnError)
{
    TunePlan plan;
    plan.trainer = scriptedTrainer();
    plan.record = [](const config::TrainingConfig&, const std::stop_token&) {
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(tl::unexpected(profiler::Error{
            profiler::Error::Code::NotFound, {"test.no_folder", {}, "There is no such folder"}, "/nowhere", {}}));
    };
    EXPECT_FALSE(tune(plan, {}, {}));
}

/// Of 1,048,576,000 bytes, a thousand mebibytes, which is the limit of the run.
constexpr std::string_view kFull = R"(
    meta host.cores 2
    meta dataset.train_samples SAMPLES
    main
      repeat 20 every 1000
        step 0 0 1000
        phase forward 0 400
        phase backward 400 600
      end
    counter memory
      sample 0 1000
      sample 5000 1048576000
)";

TuneResult tunedWhereMemoryIsFull(const char* samples)
{
    int recordings = 0;
    TunePlan plan = planWith(recordings);
    EXPECT_TRUE(plan.start.set("batch.memory_limit", "1000"));
    plan.record = [&](const config::TrainingConfig&, const std::stop_token&) {
        std::string text(kFull);
        text.replace(text.find("SAMPLES"), 7, samples);
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(test_support::traceFromText(text));
    };
    const auto result = tune(plan, {}, {});
    return result ? *result : TuneResult{};
}

TEST(Tuner, MemorySavingsAreTriedWithALargerBatchOrSkipped)
{
    const Script script{{"SCRIPT_NOISE", "0.005"}};
    const auto outcomeOf = [](const TuneResult& result, std::string_view key) -> std::optional<TuneTrial> {
        for (const TuneTrial& trial : result.trials)
            if (trial.change.key == key)
                return trial;
        return std::nullopt;
    };
    const auto tried = outcomeOf(tunedWhereMemoryIsFull("1600"), "checkpointing");
    ASSERT_TRUE(tried && tried->result);
    EXPECT_EQ(tried->result->plan.objective, Objective::Time);
    EXPECT_EQ(tried->result->plan.changes.back().key, "batch.size");
    const auto skipped = outcomeOf(tunedWhereMemoryIsFull("40"), "checkpointing");
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->outcome, TuneTrial::Outcome::Skipped);
    EXPECT_EQ(skipped->why.id, "tune.skipped.too_few_samples");
}

/// The result for checkpointing, which is tried with twice the batch size.
TuneTrial trialOfALargerBatch(std::initializer_list<std::pair<std::string, std::string>> behaviour)
{
    const Script script(behaviour);
    const auto result = tunedWhereMemoryIsFull("1600");
    for (const TuneTrial& trial : result.trials)
        if (trial.change.key == "checkpointing" && trial.result)
            return trial;
    ADD_FAILURE() << "it was not tried";
    return {};
}

// Samples per second alone never decide about a larger batch.
TEST(Tuner, KeepsALargerBatchOnlyIfTheLossAtEqualTimeIsNotWorse)
{
    const TuneTrial kept = trialOfALargerBatch({{"SCRIPT_CHANGED_KEY", "batch.size"}, {"SCRIPT_SPEEDUP", "1.5"}});
    EXPECT_EQ(kept.outcome, TuneTrial::Outcome::Kept) << kept.whyText();
    EXPECT_EQ(kept.result->loss.kind, LossKind::NotWorse);
    EXPECT_EQ(kept.result->loss.at, LossCheck::At::EqualTime);

    const TuneTrial worse = trialOfALargerBatch(
        {{"SCRIPT_CHANGED_KEY", "batch.size"}, {"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_LOSS_FACTOR", "1.2"}});
    EXPECT_EQ(worse.outcome, TuneTrial::Outcome::Dropped);
    EXPECT_EQ(worse.result->loss.kind, LossKind::Worse);

    const TuneTrial notShown = trialOfALargerBatch({{"SCRIPT_CHANGED_KEY", "batch.size"},
                                                    {"SCRIPT_SPEEDUP", "1.5"},
                                                    {"SCRIPT_LOSS_FACTOR", "1.05"},
                                                    {"SCRIPT_LOSS_NOISE", "0.1"}});
    EXPECT_EQ(notShown.outcome, TuneTrial::Outcome::Dropped);
    EXPECT_EQ(notShown.result->loss.kind, LossKind::NotShown);
    EXPECT_EQ(notShown.result->verdict, Verdict::Inconclusive);
    EXPECT_EQ(notShown.why.id, "experiment.loss_not_shown");
}

} // namespace
} // namespace experiment_test
