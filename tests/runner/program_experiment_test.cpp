#include "advisor/experiment/program_experiment.h"

#include "profiler/os/connections.h"
#include "tests/runner/traces_of_processes.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <unistd.h>

// Experiments on programs that train nothing: their runner, their arms and their verdicts.
namespace runner_test {

using advisor::ProgramPlan;
using advisor::ProgramResult;
using advisor::Verdict;
using profiler::test::hasId;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::StartsWith;

namespace {

const std::string kMark = "RUNNER_TEST_MARK=" + std::to_string(::getpid());

std::vector<std::string> command(const std::vector<std::string>& options)
{
    std::vector<std::string> words = {PYTHON, SCRIPTED_PROGRAM};
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

/// An experiment in a temporary folder, in which nothing may be left afterwards.
class ProgramExperiment : public testing::Test {
protected:
    ProgramPlan plan(const std::vector<std::string>& baseline, const std::vector<std::string>& change)
    {
        ProgramPlan plan;
        plan.setup.arms[0].command = command(baseline);
        plan.setup.arms[1].command = command(change);
        plan.setup.folder = m_folder.path();
        plan.setup.environment = {kMark};
        plan.setup.logs = m_folder / "..";
        plan.setup.isolation = advisor::runner::checkPrivateViews() ? advisor::runner::Isolation::Overlay
                                                                    : advisor::runner::Isolation::Copy;
        plan.turn = std::chrono::milliseconds(100);
        return plan;
    }
    profiler::Result<ProgramResult> run(const ProgramPlan& plan)
    {
        auto result = runProgramExperiment(plan, {}, {});
        EXPECT_THAT(processesWith(kMark), IsEmpty());
        EXPECT_THAT(m_folder.scratch(), IsEmpty());
        EXPECT_EQ(mounts(), m_mounts);
        return result;
    }
    profiler::Result<ProgramResult> run(const std::vector<std::string>& baseline,
                                        const std::vector<std::string>& change)
    {
        return run(plan(baseline, change));
    }
    std::vector<std::string> notes(const ProgramResult& result)
    {
        std::vector<std::string> ids;
        for (const profiler::Message& note : result.measured.notes)
            ids.push_back(note.id);
        return ids;
    }

    const Folder m_folder;
    const std::string m_mounts = mounts();
};

TEST_F(ProgramExperiment, AFasterProgramPays)
{
    const auto result = run({"milliseconds=20", "write=out.txt", "child=yes"}, {"milliseconds=10", "write=out.txt"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(verdictName(*result), "pays");
    EXPECT_THAT(result->measured.samplesPerSecond.value, AllOf(Ge(1.6), Le(2.2)));
    EXPECT_EQ(result->measured.pairs.size(), 6U) << "at the first look";
    EXPECT_THAT(notes(*result), Contains("experiment.note.seeded"));
    EXPECT_THAT(m_folder.files(), IsEmpty()) << "files that the arms write stay in their views";
    EXPECT_THAT(readText(m_folder / "../baseline.log"), HasSubstr("the program starts"));
}

TEST_F(ProgramExperiment, AProgramThatNeedsATerminalGetsOne)
{
    const auto result = run({"milliseconds=10", "terminal=yes"}, {"milliseconds=5", "terminal=yes"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_THAT(notes(*result), Contains("experiment.note.terminal"));
    EXPECT_THAT(readText(m_folder / "../baseline.log"), HasSubstr("a terminal of"));
}

TEST_F(ProgramExperiment, AHigherLossIsNotAGain)
{
    const auto result = run({"milliseconds=20"}, {"milliseconds=10", "loss=1.5"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::DoesNotPay);
    EXPECT_EQ(result->measured.why.id, "experiment.loss_worse");
}

// It is unknown what a diff or another command affects: a gain counts only if the loss is shown to be not worse.
TEST_F(ProgramExperiment, AnotherCommandMayAffectTheLoss)
{
    const auto result = run({"milliseconds=10"}, {"milliseconds=5", "loss_noise=0.3"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->measured.plan.isChangeUnknown);
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::NotShown);
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result->measured.why.id, "experiment.loss_not_shown");
    // According to its row, the setting cannot affect the loss.
    ProgramPlan known = plan({"milliseconds=10"}, {"milliseconds=5", "loss_noise=0.3"});
    known.changes = {{"loader.workers", "0", "2"}};
    const auto settled = run(known);
    ASSERT_TRUE(settled) << settled.error().message();
    EXPECT_FALSE(settled->measured.plan.isChangeUnknown);
    EXPECT_EQ(settled->measured.verdict, Verdict::Pays);
    EXPECT_EQ(settled->measured.why.id, "experiment.faster.loss_not_affected");
}

// The batches of another command are known from what the programs do.
TEST_F(ProgramExperiment, OtherBatchesOfAnotherCommandAreComparedAtEqualTime)
{
    const auto result =
        run({"milliseconds=20", "seed_noise=0.01"}, {"milliseconds=20", "seed_noise=0.01", "loss=1.3", "batch=8"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_GT(result->measured.samplesPerSecond.low, 1.5) << "twice the samples in the same time";
    EXPECT_EQ(result->measured.loss.at, advisor::LossCheck::At::EqualTime);
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::Worse);
    EXPECT_EQ(result->measured.verdict, Verdict::DoesNotPay) << "samples per second alone do not decide";
    EXPECT_EQ(result->measured.why.id, "experiment.loss_worse");
}

ProgramPlan largerBatch(ProgramPlan plan)
{
    plan.changes = {{"batch.size", "4", "8"}};
    return plan;
}

TEST_F(ProgramExperiment, ALargerBatchPaysIfItsLossAtEqualTimeIsNotWorse)
{
    const auto result = run(largerBatch(
        plan({"milliseconds=20", "seed_noise=0.01"}, {"milliseconds=24", "seed_noise=0.01", "batch=8", "loss=1.005"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::NotWorse);
    EXPECT_EQ(result->measured.loss.at, advisor::LossCheck::At::EqualTime);
    EXPECT_EQ(result->measured.loss.seeds, 3U);
    ASSERT_TRUE(result->measured.lossAtEqualTime);
    EXPECT_GT(result->measured.lossAtEqualTime->seconds, 0.15) << "two turns of a tenth of a second";
    EXPECT_THAT(notes(*result), Contains("experiment.note.screening")) << "and there is no claim about convergence";
}

TEST_F(ProgramExperiment, ALargerBatchWithAHigherLossDoesNotPay)
{
    const auto result = run(largerBatch(
        plan({"milliseconds=20", "seed_noise=0.01"}, {"milliseconds=20", "seed_noise=0.01", "batch=8", "loss=1.1"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::DoesNotPay) << result->measured.whyText();
    EXPECT_EQ(result->measured.why.id, "experiment.loss_worse");
}

TEST_F(ProgramExperiment, WithoutOtherSeedsALargerBatchIsNotShown)
{
    const auto result = run(largerBatch(plan({"milliseconds=20"}, {"milliseconds=20", "batch=8"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::NotShown);
    EXPECT_FALSE(result->measured.loss.seedsVary);
    EXPECT_EQ(result->measured.why.id, "experiment.loss_seeds_equal");
    EXPECT_EQ(result->measured.pairs.size(), 6U) << "more starts would show no more";
}

TEST_F(ProgramExperiment, ALossThatIsASumIsNotComparedBetweenBatches)
{
    const auto result = run(largerBatch(plan({"milliseconds=20", "seed_noise=0.01", "sums=yes"},
                                             {"milliseconds=20", "seed_noise=0.01", "sums=yes", "batch=8"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->program.sumsLosses);
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::NotCompared);
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_THAT(notes(*result), Contains("experiment.note.sums_losses"));
}

/// A change of what the program learns, with half a second of training for each seed.
ProgramPlan otherRate(ProgramPlan plan)
{
    plan.changes = {{"optimizer.learning_rate", "0.1", "0.2"}};
    plan.horizon = std::chrono::milliseconds(500);
    return plan;
}

TEST_F(ProgramExperiment, AChangeOfLearningIsScreenedAtEqualTime)
{
    const auto result = run(otherRate(plan({"seed_noise=0.01"}, {"milliseconds=5", "seed_noise=0.01", "loss=0.8"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.plan.objective, advisor::Objective::LossAtEqualTime);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(result->measured.why.id, "experiment.screening.lower");
    ASSERT_TRUE(result->measured.lossAtEqualTime);
    EXPECT_DOUBLE_EQ(result->measured.lossAtEqualTime->seconds, 0.5);
    EXPECT_EQ(result->measured.lossAtEqualTime->seeds.size(), 3U);
    EXPECT_THAT(notes(*result), testing::IsSupersetOf({"experiment.note.screening", "experiment.note.own_schedule"}));
    const auto higher = run(otherRate(plan({"seed_noise=0.01"}, {"seed_noise=0.01", "loss=1.2"})));
    ASSERT_TRUE(higher) << higher.error().message();
    EXPECT_EQ(higher->measured.verdict, Verdict::Costs) << higher->measured.whyText();
}

TEST_F(ProgramExperiment, AScreeningWithoutOtherSeedsShowsNothing)
{
    const auto result = run(otherRate(plan({}, {"loss=0.8"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result->measured.why.id, "experiment.screening.seeds_equal");
}

TEST_F(ProgramExperiment, AProgramThatEndsBeforeTheHorizonIsTooShortForAScreening)
{
    const auto result = run(otherRate(plan({"seed_noise=0.01", "end=30"}, {"seed_noise=0.01", "end=30"})));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result->measured.why.id, "experiment.too_short_for_horizon");
    EXPECT_EQ(result->program.restarts[0] + result->program.restarts[1], 0) << "it would begin again";
}

TEST_F(ProgramExperiment, AChangeThatOnlyTheChangedProgramFailsWithIsRefused)
{
    for (const char* failure : {"fail=30", "exit=30", "torch=no"}) {
        const auto result = run({}, {failure});
        ASSERT_TRUE(result) << failure << ": " << result.error().message();
        EXPECT_TRUE(result->isRefused) << failure;
        EXPECT_EQ(verdictName(*result), "refused by the program");
        EXPECT_EQ(result->measured.why.id, "experiment.refused");
        EXPECT_FALSE(result->program.failure->traceback.empty()) << failure;
    }
}

TEST_F(ProgramExperiment, AFailureOfBothIsAnError)
{
    const auto first = run({"fail=30"}, {"fail=30"});
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().message(), HasSubstr("ValueError: no such shape"));
    // Within the pairs of the first start, however many steps the warm-up takes. After a short one, the change gets
    // there first: the order of turns is A B B A.
    ProgramPlan longTurns = plan({"fail=140"}, {"fail=140"});
    longTurns.turn = std::chrono::seconds(1);
    const auto later = run(longTurns);
    ASSERT_FALSE(later);
    const auto baseline = run({"exit=30"}, {});
    ASSERT_FALSE(baseline);
    EXPECT_THAT(baseline.error().message(), HasSubstr("status 7: last words"));
}

TEST_F(ProgramExperiment, AShortProgramIsStartedAgain)
{
    // One start takes at least 33 steps: the first one, 20 for the warm-up and 6 in each of its two pairs.
    const auto result = run({"milliseconds=20", "end=25"}, {"milliseconds=10", "end=25"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_GT(result->program.restarts[0], 0);
    EXPECT_GT(result->program.restarts[1], 0);
    EXPECT_THAT(notes(*result), Contains("experiment.note.restarted"));
}

TEST_F(ProgramExperiment, AProgramOfAFewStepsIsTooShort)
{
    const auto result = run({"end=4"}, {"end=4"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result->measured.why.id, "experiment.too_short");
}

TEST_F(ProgramExperiment, AHangIsEndedAndItsStackReported)
{
    ProgramPlan hanging = plan({"torch=no"}, {});
    hanging.setup.arms[0].command = {PYTHON, "-c", R"(
import os, signal, socket, time
signal.signal(int(os.environ["STEPSCOPE_ARM_STACK_SIGNAL"]), lambda *_: print("stack of the hang", flush=True))
connection = socket.socket(socket.AF_UNIX)
connection.connect("\0" + os.environ["STEPSCOPE_ARM"])
connection.sendall(b'{"type": "started"}\n')
while True:
    time.sleep(1)
)"};
    hanging.setup.startPatience = std::chrono::seconds(2);
    const auto result = run(hanging);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message(), HasSubstr("stack of the hang"));
}

TEST_F(ProgramExperiment, AProgramWithoutTorchOrStepsSaysWhatIsMissing)
{
    const auto torch = run({"torch=no"}, {});
    ASSERT_FALSE(torch);
    EXPECT_THAT(torch.error().what, hasId("program.run.failed", {{"reason", "program.run.no_torch"}}));
    const auto steps = run({"steps=no"}, {});
    ASSERT_FALSE(steps);
    EXPECT_THAT(steps.error().what, hasId("program.run.failed", {{"reason", "program.run.no_step"}}));
    ProgramPlan missing = plan({}, {});
    missing.setup.arms[0].command = {"no-such-program"};
    const auto found = run(missing);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("no-such-program"));
}

TEST_F(ProgramExperiment, EndsWhenItIsCancelledOrOutOfTime)
{
    std::stop_source stop;
    const auto cancelled = runProgramExperiment(
        plan({}, {}),
        [&](const advisor::ExperimentProgress& progress) {
            if (!progress.pairs.empty())
                stop.request_stop();
        },
        stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, profiler::Error::Code::Cancelled);
    EXPECT_THAT(processesWith(kMark), IsEmpty());
    ProgramPlan brief = plan({}, {});
    brief.budget = std::chrono::seconds(2);
    const auto result = run(brief);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
}

// For the user's own diff or command, no setting determines what it affects.
TEST_F(ProgramExperiment, AnotherCommandIsMeasuredByWhatTheUserChose)
{
    ProgramPlan validation = plan({"milliseconds=2", "validate=5", "validation_ms=40"},
                                  {"milliseconds=2", "validate=5", "validation_ms=20"});
    validation.measure = "validation";
    validation.isTimeChosen = true;
    const auto result = run(validation);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.plan.objective, advisor::Objective::Time);
    EXPECT_THAT(result->measured.unitUsA, AllOf(Ge(40e3), Le(60e3)));
    EXPECT_THAT(result->measured.samplesPerSecond.value, AllOf(Ge(1.6), Le(2.2)));
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
}

TEST_F(ProgramExperiment, ProgressNamesTheProgram)
{
    const auto firstDoing = [](const ProgramPlan& plan) {
        std::string first;
        std::stop_source stop;
        const auto cancelled = runProgramExperiment(
            plan,
            [&](const advisor::ExperimentProgress& progress) {
                first = progress.doing;
                stop.request_stop();
            },
            stop.get_token());
        EXPECT_FALSE(cancelled);
        return first;
    };
    EXPECT_EQ(firstDoing(plan({}, {})), "starting two copies of scripted_program.py");
    ProgramPlan against = plan({}, {});
    against.setup.arms[1].command = {"sh", "-c", "exit 1"};
    EXPECT_EQ(firstDoing(against), "starting scripted_program.py and sh");
}

TEST_F(ProgramExperiment, APatchedFileIsSeenByTheSecondArmAlone)
{
    m_folder.write("speed.txt", "milliseconds=20");
    const auto before = m_folder.files();
    ProgramPlan patched = plan({}, {});
    for (auto& arm : patched.setup.arms)
        arm.command = {"sh", "-c", std::string("exec ") + PYTHON + " " + SCRIPTED_PROGRAM + " $(cat speed.txt)"};
    patched.setup.arms[1].files = {{m_folder / "speed.txt", "milliseconds=10"}};
    const auto result = run(patched);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(m_folder.files(), before);
}

TEST_F(ProgramExperiment, ARefusalNamesTheChangedLine)
{
    m_folder.write("options.txt", "milliseconds=10\nbatch=4\n");
    ProgramPlan patched = plan({}, {});
    for (auto& arm : patched.setup.arms)
        arm.command = {"sh", "-c", std::string("exec ") + PYTHON + " " + SCRIPTED_PROGRAM + " $(cat options.txt)"};
    patched.setup.arms[1].files = {{m_folder / "options.txt", "milliseconds=10\n  fail=20\n"}};
    const auto result = run(patched);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_TRUE(result->isRefused);
    EXPECT_EQ(result->measured.why.id, "experiment.refused_at");
    ASSERT_EQ(result->patchedLines.size(), 1U);
    EXPECT_EQ(result->patchedLines[0].file, m_folder / "options.txt");
    EXPECT_EQ(result->patchedLines[0].line, 2U);
    EXPECT_EQ(result->patchedLines[0].text, "fail=20");
}

TEST_F(ProgramExperiment, MemoryIsMeasuredInFreshProcesses)
{
    ProgramPlan memory = plan({"peak=100"}, {"peak=50"});
    memory.changes = {{"checkpointing", "off", "all"}};
    const auto result = run(memory);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.plan.objective, advisor::Objective::Memory);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(result->measured.peakBytesA, 100 << 20);
    EXPECT_EQ(result->measured.peakBytesB, 50 << 20);
    EXPECT_GE(result->measured.pairs.size(), 3U);
}

TEST_F(ProgramExperiment, AFasterValidationPays)
{
    ProgramPlan validation = plan({"milliseconds=2", "validate=5", "validation_ms=40"},
                                  {"milliseconds=2", "validate=5", "validation_ms=20"});
    validation.changes = {{"eval.no_grad", "false", "true"}};
    validation.measure = "validation";
    const auto result = run(validation);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.plan.measure, "validation");
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_THAT(result->measured.samplesPerSecond.value, AllOf(Ge(1.6), Le(2.2)));
    EXPECT_THAT(result->measured.unitUsA, AllOf(Ge(40e3), Le(60e3))) << "a validation, without the steps before it";
    EXPECT_EQ(result->program.restarts[0] + result->program.restarts[1], 0);
}

TEST_F(ProgramExperiment, AFasterEpochPays)
{
    const std::vector<std::string> both = {"validate=10", "validation_ms=30", "epoch=10"};
    std::vector<std::string> baseline = both, change = both;
    baseline.emplace_back("milliseconds=6");
    change.emplace_back("milliseconds=3");
    ProgramPlan epoch = plan(baseline, change);
    epoch.changes = {{"loader.persistent_workers", "false", "true"}};
    epoch.measure = "epoch";
    const auto result = run(epoch);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_THAT(result->measured.unitUsA, AllOf(Ge(60e3), Le(85e3))) << "ten steps, without the validation";
    EXPECT_THAT(result->measured.samplesPerSecond.value, AllOf(Ge(1.5), Le(2.2)));
}

TEST_F(ProgramExperiment, AShortProgramIsStartedAgainForItsValidations)
{
    const std::vector<std::string> both = {"milliseconds=2", "validate=20", "end=45"};
    std::vector<std::string> baseline = both, change = both;
    baseline.emplace_back("validation_ms=60");
    change.emplace_back("validation_ms=20");
    ProgramPlan validation = plan(baseline, change);
    validation.changes = {{"eval.no_grad", "false", "true"}};
    validation.measure = "validation";
    const auto result = run(validation);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_GT(result->program.restarts[0], 0);
    EXPECT_GT(result->program.restarts[1], 0);
}

TEST_F(ProgramExperiment, AProgramWithoutWhatIsMeasuredSaysSo)
{
    for (const auto& [measure, why] :
         {std::pair{"validation", "experiment.no_validation"}, std::pair{"epoch", "experiment.no_second_epoch"}}) {
        ProgramPlan without = plan({"end=40", "epoch=30"}, {"end=40", "epoch=30"});
        without.measure = measure;
        const auto result = run(without);
        ASSERT_TRUE(result) << result.error().message();
        EXPECT_EQ(result->measured.verdict, Verdict::Inconclusive);
        EXPECT_EQ(result->measured.why.id, why);
        EXPECT_TRUE(result->program.isTooShort);
        EXPECT_EQ(result->program.restarts[0], 1) << "one whole run without a " << measure;
    }
}

TEST_F(ProgramExperiment, StepsBeforeAValidationAreNoHang)
{
    for (const bool isQuiet : {false, true}) {
        std::vector<std::string> options = {"milliseconds=50", "validate=100"};
        if (isQuiet)
            options.emplace_back("quiet=yes");
        ProgramPlan validation = plan(options, options);
        validation.measure = "validation";
        validation.budget = std::chrono::seconds(9);
        validation.setup.startPatience = std::chrono::seconds(2);
        const auto result = run(validation);
        ASSERT_EQ(result.has_value(), !isQuiet);
        if (isQuiet)
            EXPECT_EQ(result.error().what.id, "program.run.failed");
        else
            EXPECT_THAT(result->measured.why.id, StartsWith("experiment.out_of_time"));
    }
}

TEST_F(ProgramExperiment, ValidationsOfAllRanksOrOfOneAreMeasured)
{
    for (const char* who : {"validates=all", "validates=first"}) {
        ProgramPlan validation = plan({"milliseconds=2", "ranks=2", "validate=5", "validation_ms=40", who},
                                      {"milliseconds=2", "ranks=2", "validate=5", "validation_ms=20", who});
        validation.changes = {{"eval.no_grad", "false", "true"}};
        validation.measure = "validation";
        const auto result = run(validation);
        ASSERT_TRUE(result) << who << ": " << result.error().message();
        EXPECT_EQ(result->program.ranks, 2);
        EXPECT_EQ(result->measured.verdict, Verdict::Pays) << who << ": " << result->measured.whyText();
        EXPECT_THAT(result->measured.unitUsA, AllOf(Ge(40e3), Le(60e3))) << who;
    }
}

TEST_F(ProgramExperiment, AnArmThatIsKilledIsRefused)
{
    const auto result = run({}, {"kill=30"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->isRefused);
    EXPECT_THAT(result->program.failure->how, HasSubstr("signal 9"));
}

TEST_F(ProgramExperiment, AProgramThatLeavesByExitIsStartedAgain)
{
    const auto result = run({"milliseconds=20", "leave=25"}, {"milliseconds=10", "leave=25"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_GT(result->program.restarts[0] + result->program.restarts[1], 0);
}

TEST_F(ProgramExperiment, ProgramsThatListenOnOnePortRunOneAtATime)
{
    const std::string port = "port=" + std::to_string(profiler::os::freePort());
    const auto result = run({"milliseconds=20", port}, {"milliseconds=10", port});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->measured.isSequential);
    EXPECT_TRUE(result->measured.sharePort);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
}

TEST_F(ProgramExperiment, TheErrorOfAStartedProcessCountsWhateverItsLauncherSaysLast)
{
    const std::string port = "port=" + std::to_string(profiler::os::freePort());
    const auto result = run({"milliseconds=20", port, "launcher=yes"}, {"milliseconds=10", port, "launcher=yes"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->measured.isSequential);
    EXPECT_TRUE(result->measured.sharePort);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
}

TEST_F(ProgramExperiment, StandardInputIsEmpty)
{
    const auto result = run({"milliseconds=20", "stdin=yes"}, {"milliseconds=10", "stdin=yes"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays);
    EXPECT_THAT(readText(m_folder / "../baseline.log"), HasSubstr("standard input: ''"));
}

TEST_F(ProgramExperiment, AShellScriptAndAPackageAreProgramsToo)
{
    const std::string python = PYTHON;
    m_folder.write("run.sh", "exec " + python + " " + SCRIPTED_PROGRAM + " \"$@\"\n");
    m_folder.write("pkg/__init__.py", "");
    m_folder.write("pkg/train.py", "import runpy\nrunpy.run_path(" + std::string("'") + SCRIPTED_PROGRAM + "')\n");
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"sh", "run.sh"}, std::vector<std::string>{python, "-m", "pkg.train"}}) {
        ProgramPlan program = plan({}, {});
        for (std::size_t arm : {0U, 1U}) {
            program.setup.arms[arm].command = command;
            program.setup.arms[arm].command.emplace_back(arm == 0 ? "milliseconds=20" : "milliseconds=10");
        }
        const auto result = run(program);
        ASSERT_TRUE(result) << command.back() << ": " << result.error().message();
        EXPECT_EQ(result->measured.verdict, Verdict::Pays) << command.back();
    }
}

/// `conda run` starts the command in a new shell, from a script that it has written.
constexpr const char* kCondaRun = R"(#!/bin/sh
shift 3
script=$(mktemp)
echo 'exec "$@"' > "$script"
/bin/sh "$script" "$@"
status=$?
rm "$script"
exit $status
)";

TEST_F(ProgramExperiment, ACommandOfCondaRunIsMeasured)
{
    std::filesystem::permissions(m_folder.write("conda", kCondaRun), std::filesystem::perms::owner_all);
    const auto before = m_folder.files();
    ProgramPlan wrapped = plan({"milliseconds=20"}, {"milliseconds=10"});
    for (auto& arm : wrapped.setup.arms)
        arm.command.insert(arm.command.begin(), {"./conda", "run", "-n", "training"});
    const auto result = run(wrapped);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_EQ(m_folder.files(), before);
}

TEST_F(ProgramExperiment, AProgramThatBecomesADaemonIsMeasuredAndEnded)
{
    const auto result = run({"milliseconds=20", "daemon=yes"}, {"milliseconds=10", "daemon=yes"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
}

// A full disk has nothing to do with the change.
TEST_F(ProgramExperiment, AFullDiskInOneArmIsAnErrorNotARefusal)
{
    ProgramPlan full = plan({"fill=30"}, {"fill=30"});
    std::string line = "ulimit -f 100; exec"; // blocks of 512 or 1024 bytes; the program writes a megabyte
    for (const std::string& word : full.setup.arms[1].command)
        line += " " + word;
    full.setup.arms[1].command = {"sh", "-c", line};
    const auto result = run(full);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what.id, "experiment.program.disk_full");
    EXPECT_THAT(m_folder.files(), IsEmpty());
}

// Both arms write the same file at the same path, like the event files of TensorBoard.
TEST_F(ProgramExperiment, ArmsThatWriteToOneFolderDoNotSeeEachOther)
{
    if (!advisor::runner::checkPrivateViews())
        GTEST_SKIP() << "no private views on this machine";
    // In the program's folder, and in one that every user can write to.
    const std::filesystem::path elsewhere =
        "/tmp/stepscope-test-" + m_folder.path().parent_path().filename().string() + ".log";
    for (const std::filesystem::path& file : {m_folder / "events.log", elsewhere}) {
        const std::string write = "write=" + file.string();
        const auto result = run({"milliseconds=20", write, "alone=yes"}, {"milliseconds=10", write, "alone=yes"});
        ASSERT_TRUE(result) << result.error().message();
        EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
        EXPECT_FALSE(result->measured.isSequential);
    }
    EXPECT_THAT(m_folder.files(), IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST_F(ProgramExperiment, AllRanksOfAnArmTakeTheTurn)
{
    const auto result = run({"milliseconds=20", "ranks=2"}, {"milliseconds=10", "ranks=2"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->program.ranks, 2);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    // Four samples in each step of each rank.
    EXPECT_GT(result->measured.samplesPerSecondA, 1.5 * 4 / 0.020 * 0.7);
}

TEST_F(ProgramExperiment, ProcessesThatTrainByThemselvesTakeTheTurnsFromTheirFirstStepOn)
{
    const auto result = run({"milliseconds=20", "peers=2"}, {"milliseconds=10", "peers=2"});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->program.ranks, 1);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    // Four samples in each step of each process.
    EXPECT_GT(result->measured.samplesPerSecondA, 1.5 * 4 / 0.020 * 0.7);
}

TEST_F(ProgramExperiment, AllRanksOfAnArmTrainTheEpoch)
{
    ProgramPlan epoch = plan({"milliseconds=6", "epoch=10", "ranks=2"}, {"milliseconds=3", "epoch=10", "ranks=2"});
    epoch.changes = {{"loader.persistent_workers", "false", "true"}};
    epoch.measure = "epoch";
    const auto result = run(epoch);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->program.ranks, 2);
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    EXPECT_THAT(result->measured.unitUsA, AllOf(Ge(60e3), Le(85e3))) << "an epoch of one rank";
}

TEST_F(ProgramExperiment, StepsAreDroppedForWorkersThatComeLater)
{
    const auto result = run({"milliseconds=20", "grow=20"}, {"milliseconds=10", "grow=20"});
    ASSERT_TRUE(result) << result.error().message();
    const std::string log = readText(m_folder / "../change.log");
    EXPECT_THAT(log, HasSubstr("drop 1\n")) << "before the workers were started";
    EXPECT_THAT(log, HasSubstr("drop 7\n")) << "three workers with two batches each, and the one at hand";
}

} // namespace
} // namespace runner_test
