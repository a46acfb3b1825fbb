#include "advisor/tuner/program_tuner.h"

#include "advisor/tuner/tune_text.h"
#include "tests/runner/recorded_program.h"

#include <gmock/gmock.h>
#include <string>
#include <unistd.h>

// Tuning of a program that trains nothing: its number of workers determines the speed of its steps.
namespace runner_test {

using advisor::ProgramTunePlan;
using advisor::ProgramTuneResult;
using advisor::TuneTrial;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::StartsWith;

namespace {

const std::string kMark = "TUNER_TEST_MARK=" + std::to_string(::getpid());

class ProgramTuner : public testing::Test, protected RecordedProgram {
protected:
    ProgramTuner()
    {
        m_facts["script"] = nullptr; // the command is split like in a shell
        runs("milliseconds=20", "milliseconds=10");
        m_plan.setup.folder = m_folder.path();
        m_plan.setup.environment = {kMark};
        m_plan.setup.logs = m_folder / "..";
        m_plan.setup.isolation = advisor::runner::checkPrivateViews() ? advisor::runner::Isolation::Overlay
                                                                      : advisor::runner::Isolation::Copy;
        m_plan.turn = std::chrono::milliseconds(100);
        m_plan.budget = std::chrono::seconds(0);
        m_plan.patcher = patcher();
        m_plan.record = [this](const advisor::ProgramSetup&, const advisor::ProgramVariant& variant,
                               const std::stop_token&) -> profiler::Result<std::shared_ptr<const profiler::Trace>> {
            ++m_recordings;
            return trace(variant.files.empty() ? kWaitingSteps : kBusySteps);
        };
    }

    /// Options of scripted_program.py for the current train.py, and after it uses the two workers that the rule
    /// proposes.
    void runs(const std::string& withoutWorkers, const std::string& withWorkers)
    {
        m_plan.setup.arms[0].command = {"sh", "-c",
                                        std::string("grep -q num_workers=2 train.py && options='") + withWorkers +
                                            "' || options='" + withoutWorkers + "'; exec " + PYTHON + " " +
                                            SCRIPTED_PROGRAM + " $options"};
    }

    profiler::Result<ProgramTuneResult> tune(const std::function<void(const advisor::TuneProgress&)>& progress = {},
                                             const std::stop_token& stop = {})
    {
        const auto before = m_folder.files();
        auto result = tuneProgram(m_plan, progress, stop);
        EXPECT_EQ(m_folder.files(), before) << "nothing of the user's changes";
        EXPECT_THAT(processesWith(kMark), IsEmpty());
        EXPECT_THAT(m_folder.scratch(), IsEmpty());
        return result;
    }

    ProgramTunePlan m_plan;
    int m_recordings = 0;
};

std::vector<std::string> outcomes(const ProgramTuneResult& result)
{
    std::vector<std::string> rows;
    for (const TuneTrial& trial : result.trials)
        rows.push_back(trial.change.key + "=" + trial.change.to + " " + std::string(outcomeName(trial.outcome)));
    return rows;
}

TEST_F(ProgramTuner, KeepsWhatPaysSearchesFurtherAndMeasuresTheWhole)
{
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=2 kept", "loader.workers=1 dropped"));
    EXPECT_THAT(result->kept, ElementsAre(advisor::Toggle{"loader.workers", "0", "2"}));
    EXPECT_THAT(result->patch.diff, HasSubstr("+loader = DataLoader(data, batch_size=32, num_workers=2)"));
    EXPECT_EQ(result->why.id, "tune.ended.nothing_left");
    EXPECT_EQ(m_recordings, 2) << "anew after the kept change";
    ASSERT_TRUE(result->whole);
    EXPECT_THAT(result->ratio.value, AllOf(Ge(1.6), Le(2.2)));
    EXPECT_FALSE(result->stopped);
}

TEST_F(ProgramTuner, AChangeThatTheProgramRefusesIsReportedAndNotKept)
{
    runs("milliseconds=10", "fail=30");
    m_plan.trace = trace(kWaitingSteps);
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=2 refused by the program"));
    EXPECT_EQ(result->trials[0].why.id, "experiment.refused_at");
    EXPECT_THAT(result->kept, IsEmpty());
    EXPECT_EQ(result->patch.diff, "");
    EXPECT_FALSE(result->whole);
    EXPECT_EQ(m_recordings, 0) << "the caller had a recording";
}

TEST_F(ProgramTuner, ALargerBatchIsKeptIfItsLossAtEqualTimeIsNotWorseAndSearchedFurther)
{
    recordBatchSize();
    m_plan.trace = trace(kSmallBatches);
    m_plan.record = [this](const auto&, const auto&, const auto&) { return trace(kBusySteps); };
    const std::string program = std::string("exec ") + PYTHON + " " + SCRIPTED_PROGRAM +
                                " milliseconds=20 seed_noise=0.01 batch=$batch loss=$loss";
    m_plan.setup.arms[0].command = {"sh", "-c",
                                    "batch=$(sed -n 's/.*batch_size=\\([0-9]*\\).*/\\1/p' train.py); loss=1; "
                                    "[ $batch -gt 64 ] && loss=1.2; " +
                                        program};
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result),
                ElementsAre("batch.size=64 kept", "batch.size=128 dropped", "batch.size=128 skipped"));
    EXPECT_EQ(result->trials[0].result->loss.kind, advisor::LossKind::NotWorse);
    EXPECT_EQ(result->trials[1].why.id, "experiment.loss_worse");
    EXPECT_EQ(result->trials[2].why.id, "change.needs_batch") << "no learning rate is recorded";
    EXPECT_THAT(result->trials[2].with, ElementsAre(advisor::Toggle{"optimizer.lr_scaling", "", "sqrt"}));
    EXPECT_THAT(result->kept, ElementsAre(advisor::Toggle{"batch.size", "32", "64"}));
    ASSERT_TRUE(result->whole);
    EXPECT_THAT(result->ratio.value, AllOf(Ge(1.6), Le(2.4))) << "samples per second";
}

TEST_F(ProgramTuner, ALargerBatchThatLearnsLessIsTriedWithAScaledLearningRate)
{
    trainWithRate();
    const std::string optimizer = "meta optimizer.class torch.optim.SGD\nmeta optimizer.count 1\n"
                                  "meta optimizer.settings lr=0.1, weight_decay=0.01\n";
    m_plan.trace = trace(optimizer + std::string(kSmallBatches));
    m_plan.record = [&](const auto&, const auto&, const auto&) { return trace(optimizer + std::string(kBusySteps)); };
    // Larger batches learn less, except one with twice the learning rate.
    m_plan.setup.arms[0].command = {
        "sh", "-c",
        "batch=$(sed -n 's/.*batch_size=\\([0-9]*\\).*/\\1/p' train.py); loss=1; "
        "[ $batch -gt 32 ] && loss=1.2; [ $batch = 64 ] && grep -q lr=0.2 train.py && loss=0.9; "
        "exec " +
            std::string(PYTHON) + " " + SCRIPTED_PROGRAM + " milliseconds=20 seed_noise=0.01 batch=$batch loss=$loss"};
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result),
                ElementsAre("batch.size=64 dropped", "batch.size=64 kept", "batch.size=128 dropped"));
    EXPECT_EQ(result->trials[0].why.id, "experiment.loss_worse");
    EXPECT_THAT(result->trials[0].with, IsEmpty());
    EXPECT_EQ(result->trials[1].why.id, "experiment.screening.lower");
    EXPECT_THAT(result->trials[1].with, ElementsAre(advisor::Toggle{"optimizer.lr_scaling", "", "linear"}));
    EXPECT_EQ(changesText(result->trials[1]), "batch.size = 64, optimizer.lr_scaling = linear");
    EXPECT_EQ(result->trials[2].why.id, "experiment.loss_worse") << "with a learning rate that is scaled already";
    EXPECT_THAT(result->kept, ElementsAre(advisor::Toggle{"batch.size", "32", "64"},
                                          advisor::Toggle{"optimizer.lr_scaling", "", "linear"}));
    EXPECT_THAT(result->patch.diff, AllOf(HasSubstr("+loader = DataLoader(data, batch_size=64)"),
                                          HasSubstr("+optimizer = torch.optim.SGD(net, lr=0.2)")));
    ASSERT_TRUE(result->whole);
    EXPECT_THAT(result->ratio.value, AllOf(Ge(1.6), Le(2.4))) << "samples per second";
}

TEST_F(ProgramTuner, AValidationWithoutGradientsIsMeasuredInValidations)
{
    validateWithGradients();
    m_plan.trace = trace(kValidatingSteps);
    m_plan.record = [this](const auto&, const auto&, const auto&) { return trace(kBusySteps); };
    m_plan.setup.arms[0].command = {
        "sh", "-c",
        std::string("grep -q no_grad train.py && options=validation_ms=10 || options=validation_ms=20; exec ") +
            PYTHON + " " + SCRIPTED_PROGRAM + " milliseconds=2 validate=5 $options"};
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("eval.no_grad=true kept"));
    ASSERT_TRUE(result->trials[0].result);
    EXPECT_EQ(result->trials[0].result->plan.measure, "validation");
    EXPECT_THAT(result->patch.diff, HasSubstr("+with torch.no_grad():"));
    EXPECT_FALSE(result->whole) << "nothing that acts in steps was kept";
    EXPECT_EQ(result->ratio.value, 1);
}

TEST_F(ProgramTuner, AProgramWithoutValidationsEndsOnlyThatTrial)
{
    validateWithGradients();
    m_plan.trace = trace(kValidatingSteps);
    runs("milliseconds=2 end=40", "");
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("eval.no_grad=true failed"));
    EXPECT_EQ(result->trials[0].why.id, "experiment.no_validation");
    EXPECT_EQ(result->why.id, "tune.ended.nothing_left");
}

TEST_F(ProgramTuner, AProgramThatIsTooShortEndsTheTuning)
{
    runs("end=4", "end=4");
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_THAT(outcomes(*result), ElementsAre("loader.workers=2 failed"));
    EXPECT_EQ(result->why.id, "experiment.too_short");
}

TEST_F(ProgramTuner, AStopKeepsTheBestSoFar)
{
    std::stop_source stop;
    const auto result = tune(
        [&](const advisor::TuneProgress& progress) {
            if (!progress.trials.empty())
                stop.request_stop();
        },
        stop.get_token());
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->stopped);
    EXPECT_EQ(result->why.id, "tune.ended.stopped");
    EXPECT_THAT(result->kept, ElementsAre(advisor::Toggle{"loader.workers", "0", "2"}));
    EXPECT_THAT(result->patch.diff, HasSubstr("num_workers=2"));
}

TEST_F(ProgramTuner, ABudgetEndsTheExperimentThatRuns)
{
    m_plan.budget = std::chrono::seconds(2);
    const auto result = tune();
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_EQ(result->trials.size(), 1U);
    ASSERT_TRUE(result->trials[0].result);
    EXPECT_EQ(result->trials[0].result->verdict, advisor::Verdict::Inconclusive);
    EXPECT_THAT(result->kept, IsEmpty());
    EXPECT_THAT(result->why.id, StartsWith("tune.ended."));
}

TEST_F(ProgramTuner, AProgramThatCannotBeRecordedIsAnError)
{
    m_plan.record = [](const auto&, const auto&, const auto&) {
        return profiler::Result<std::shared_ptr<const profiler::Trace>>(
            profiler::fail<"test.not_recorded", "nothing was recorded">(profiler::Error::Code::NotFound));
    };
    const auto result = tune();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what.id, "test.not_recorded");
}

} // namespace
} // namespace runner_test
