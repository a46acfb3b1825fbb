#include "advisor/experiment/statistics.h"
#include "tests/experiment/script.h"
#include "tests/support/message_matchers.h"

#include <csignal>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>

namespace experiment_test {
namespace {

using namespace advisor;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::HasSubstr;

/// Cancels as soon as `when` is true; returns how long the experiment then took to end.
std::chrono::duration<double> cancelWhen(const ExperimentPlan& plan,
                                         const std::function<bool(const ExperimentProgress&)>& when)
{
    std::stop_source stop;
    std::jthread canceller;
    Clock::time_point cancelled{};
    const auto watch = [&](const ExperimentProgress& progress) {
        if (!when(progress) || canceller.joinable())
            return;
        canceller = std::jthread([&] {
            std::this_thread::sleep_for(100ms); // in the middle of an activity
            cancelled = Clock::now();
            stop.request_stop();
        });
    };
    const auto result = runExperiment(plan, watch, stop.get_token());
    const auto ended = Clock::now();
    EXPECT_TRUE(!result && result.error().code == profiler::Error::Code::Cancelled);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a trainer is left";
    if (!canceller.joinable())
        return 0s;
    canceller.join();
    return ended - cancelled;
}

TEST(Interruption, CancellingDoesNotWaitForTheEndOfATurn)
{
    // A step takes a minute, and ignores the request to stop.
    const Script script{{"SCRIPT_REAL_TIME", "1"}, {"SCRIPT_STEP_US", "60000000"}, {"SCRIPT_IGNORE_STOP", "1"}};
    const auto took = cancelWhen(
        scriptedPlan(), [](const ExperimentProgress& progress) { return progress.doing.starts_with("warming up"); });
    EXPECT_GT(took, 0s);
    EXPECT_LT(took, 40s);
}

TEST(Interruption, CancellingEndsAHangingStart)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "hang"}}; // for ever
    EXPECT_GT(cancelWhen(scriptedPlan(), [](const ExperimentProgress&) { return true; }), 0s);
}

TEST(Interruption, CancelledBeforehandStartsNoTurn)
{
    const Script script;
    std::stop_source stop;
    stop.request_stop();
    const auto result = runExperiment(scriptedPlan(), {}, stop.get_token());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, profiler::Error::Code::Cancelled);
    EXPECT_TRUE(script.log("turn").empty());
}

profiler::Error failureOf(const ExperimentPlan& plan)
{
    const auto result = runExperiment(plan, {}, {});
    EXPECT_FALSE(result);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the other trainer is left";
    return result ? profiler::Error() : result.error();
}

TEST(Interruption, AFailedStartIsReportedInTheTrainersWords)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "exit 1"}};
    const profiler::Error error = failureOf(scriptedPlan());
    EXPECT_THAT(error.what, hasIdAndPart("trainer.bad_input", "said", "There is no such folder (/nowhere)"));
    EXPECT_EQ(error.what.find("error")->text, "scripted.no_folder") << "as in the trainer's notice";
    EXPECT_EQ(error.where, "the baseline");
}

TEST(Interruption, AFailureDuringWarmUpNamesTheArm)
{
    const Script script{{"SCRIPT_DO_AT", "turn 1"}, {"SCRIPT_DO", "signal 9"}, {"SCRIPT_DO_IN_B", "1"}};
    const profiler::Error error = failureOf(scriptedPlan());
    EXPECT_THAT(error.what, hasId("trainer.killed", {{"signal", 9}}));
    EXPECT_EQ(error.where, "the change loader.workers=2");
}

TEST(Interruption, AFailureInAMeasuredTurnIsAnError)
{
    const Script script{{"SCRIPT_DO_AT", "turn 4"}, {"SCRIPT_DO", "signal 11"}, {"SCRIPT_DO_IN_B", "1"}};
    const profiler::Error error = failureOf(scriptedPlan());
    EXPECT_THAT(error.what, hasId("trainer.crashed", {{"signal", 11}}));
    EXPECT_EQ(error.where, "the change loader.workers=2");
}

TEST(Interruption, AMissingTrainerIsAnError)
{
    ExperimentPlan plan = scriptedPlan();
    plan.trainer = "/nowhere/stepscope-train";
    EXPECT_THAT(failureOf(plan).message(), HasSubstr("/nowhere/stepscope-train"));
}

TEST(Interruption, GarbageBetweenRecordsDoesNotEndIt)
{
    const Script script{{"SCRIPT_DO_AT", "turn 2"}, {"SCRIPT_DO", "garbage"}, {"SCRIPT_SPEEDUP", "1.5"}};
    const auto result = runExperiment(scriptedPlan(), {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->verdict, Verdict::Pays);
}

TEST(Interruption, WithoutTimeForTheFirstLookItIsInconclusive)
{
    const Script script{{"SCRIPT_REAL_TIME", "1"}, {"SCRIPT_STEP_US", "20000"}, {"SCRIPT_SPEEDUP", "4"}};
    ExperimentPlan plan = scriptedPlan();
    plan.budget = 6s;
    const auto begin = Clock::now();
    const auto result = runExperiment(plan, {}, {});
    const std::chrono::duration<double> took = Clock::now() - begin;
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->verdict, Verdict::Inconclusive);
    EXPECT_LT(result->pairs.size(), 6U);
    EXPECT_THAT(result->why.id, testing::StartsWith("experiment.out_of_time."));
    EXPECT_EQ(result->savedUs.isKnown(), result->pairs.size() >= 4) << "one start is one observation";
    EXPECT_GT(result->secondsSpent, 0);
    EXPECT_LE(result->secondsSpent, took.count());
}

TEST(Interruption, TheEndOfTheTimeBudgetIsTheLastLook)
{
    const Script script{{"SCRIPT_NOISE", "0.1"}};
    ExperimentPlan plan = scriptedPlan();
    plan.budget = 4s;
    const auto begin = Clock::now();
    // These trainers only report how long their steps take: the time passes here.
    const auto stall = [&](const ExperimentProgress& progress) {
        if (progress.doing.starts_with("pair 9"))
            std::this_thread::sleep_until(begin + plan.budget);
    };
    const auto result = runExperiment(plan, stall, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->pairs.size(), 8U);
    EXPECT_EQ(result->verdict, decide(result->samplesPerSecond, true));
    EXPECT_EQ(result->pairs.size(), 8U);
}

} // namespace
} // namespace experiment_test
