#include "tests/experiment/script.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>

namespace experiment_test {
namespace {

using namespace std::chrono_literals;
using namespace config::protocol;
using advisor::TrainerExit;
using advisor::TrainerProcess;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(TrainerProcess, GetsItsConfigurationAndSaysHello)
{
    const Script script;
    config::TrainingConfig config;
    ASSERT_TRUE(config.setAssignment("dataset.samples=4321"));
    const auto trainer = startScripted(config);
    const auto hello = waitFor<Hello>(*trainer);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->pid, trainer->pid());
    EXPECT_EQ(hello->trainSamples, 4321);
}

TEST(TrainerProcess, TakesTurnsAndStops)
{
    const Script script;
    const auto trainer = startScripted();
    ASSERT_TRUE(trainer->send(Turn{"steps", 2, 5}));
    const auto result = waitFor<TurnResult>(*trainer);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->seconds.size(), 5U);
    EXPECT_FALSE(trainer->exited());
    ASSERT_TRUE(trainer->send(Stop{}));
    EXPECT_TRUE(waitFor<Done>(*trainer));
    const auto exit = waitForEnd(*trainer);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->status, 0);
    EXPECT_EQ(exit->signal, 0);
}

TEST(TrainerProcess, NextWaitsAtMostTheGivenTime)
{
    const Script script;
    const auto trainer = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*trainer));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(trainer->next(50ms));
    const auto waited = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(waited, 50ms);
    EXPECT_LT(waited, 1s);
    EXPECT_FALSE(trainer->next(0ms));
}

TEST(TrainerProcess, AnUnreadableLineIsAWarningAndTheRestIsRead)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "garbage"}};
    const auto trainer = startScripted();
    std::vector<profiler::Message> warnings;
    bool hello = false;
    int steps = 0;
    while (const auto progress = trainer->next(hello ? 50ms : 5s)) {
        if (const auto* notice = std::get_if<Notice>(&*progress)) {
            EXPECT_EQ(notice->severity, Notice::Severity::Warning);
            warnings.push_back(advisor::errorOf(*notice).what);
        }
        hello = hello || std::holds_alternative<Hello>(*progress);
        steps += std::holds_alternative<StepProgress>(*progress) ? 1 : 0;
    }
    EXPECT_THAT(warnings, testing::ElementsAre(hasIdAndPart("trainer.bad_record", "why", "nonsense"),
                                               hasIdAndPart("trainer.bad_record", "why", "no json at all")));
    EXPECT_EQ(steps, 1) << "a record that arrived in two pieces";
    EXPECT_TRUE(hello);
}

TEST(TrainerProcess, AFloodOfOutputNeitherBlocksItNorFillsMemory)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "flood"}};
    const auto trainer = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*trainer));
    ASSERT_TRUE(trainer->send(Stop{}));
    const auto exit = waitForEnd(*trainer);
    ASSERT_TRUE(exit);
    EXPECT_THAT(exit->lastOutput, HasSubstr("line 99999 of a flood"));
    EXPECT_THAT(exit->lastOutput, Not(HasSubstr("line 99900 of a flood")));
    EXPECT_THAT(exit->lastOutput, HasSubstr(" 20 %"));
}

TEST(TrainerProcess, AFailureIsReportedInTheTrainersWords)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "exit 1"}};
    const auto trainer = startScripted();
    const auto exit = waitForEnd(*trainer);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->status, 1);
    EXPECT_THAT(exit->asMessage(), hasId("trainer.bad_input", {{"status", 1}, {"error", "scripted.no_folder"}}));
    EXPECT_EQ(exit->lastError, "There is no such folder (/nowhere): choose another");
    EXPECT_EQ(exit->lastOutput, "the last words");
}

TEST(TrainerProcess, ATruncatedLastRecordIsAWarning)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "exit 3"}};
    const auto trainer = startScripted();
    std::optional<Notice> last;
    while (const auto progress = trainer->next(5s))
        if (const auto* notice = std::get_if<Notice>(&*progress))
            last = *notice;
    ASSERT_TRUE(last);
    EXPECT_EQ(last->severity, Notice::Severity::Warning);
    EXPECT_EQ(last->id, "trainer.bad_record");
    EXPECT_THAT(waitForEnd(*trainer)->asMessage(), hasId("trainer.failed", {{"status", 3}}));
}

TEST(TrainerProcess, ASignalIsNamed)
{
    const std::pair<int, const char*> ids[] = {
        {9, "trainer.killed"}, {11, "trainer.crashed"}, {12, "trainer.signal"}, {15, "trainer.terminated"}};
    for (const auto& [signal, id] : ids) {
        const Script script{{"SCRIPT_DO_AT", "turn 1"}, {"SCRIPT_DO", "signal " + std::to_string(signal)}};
        const auto trainer = startScripted();
        ASSERT_TRUE(waitFor<Hello>(*trainer));
        ASSERT_TRUE(trainer->send(Turn{}));
        const auto exit = waitForEnd(*trainer);
        ASSERT_TRUE(exit);
        EXPECT_EQ(exit->signal, signal);
        EXPECT_THAT(exit->asMessage(), hasId(id, {{"signal", signal}}));
        EXPECT_THAT(exit->message(), HasSubstr("signal " + std::to_string(signal)));
    }
}

TEST(TrainerProcess, ACommandToADeadTrainerIsAnErrorNotASignal)
{
    const Script script{{"SCRIPT_DO_AT", "start"}, {"SCRIPT_DO", "exit 0"}};
    const auto trainer = startScripted();
    ASSERT_TRUE(waitForEnd(*trainer));
    // SIGPIPE would end this test.
    EXPECT_FALSE(trainer->send(Stop{}));
    EXPECT_FALSE(trainer->next(0ms));
}

TEST(TrainerProcess, ItsExitIsNoticedWithoutReadingItsProgress)
{
    const Script script{{"SCRIPT_DO_AT", "turn 1"}, {"SCRIPT_DO", "close"}};
    const auto trainer = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*trainer));
    ASSERT_TRUE(trainer->send(Turn{}));
    EXPECT_FALSE(trainer->next(100ms));
    EXPECT_FALSE(trainer->exited()) << "it only closed its progress";
    const auto begin = std::chrono::steady_clock::now();
    trainer->kill();
    EXPECT_FALSE(trainer->next(5s));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
    EXPECT_EQ(waitForEnd(*trainer)->signal, 9);
}

TEST(TrainerProcess, AMissingProgramIsAnError)
{
    const auto trainer = TrainerProcess::start({}, {.program = "/nowhere/stepscope-train", .trace = {}});
    ASSERT_FALSE(trainer);
    EXPECT_EQ(trainer.error().code, profiler::Error::Code::NotFound);
    EXPECT_THAT(trainer.error().message(), HasSubstr("/nowhere/stepscope-train"));
}

TEST(TrainerProcess, AFileThatIsNotAProgramIsAnError)
{
    EXPECT_FALSE(TrainerProcess::start({}, {.program = "/etc/passwd", .trace = {}}));
}

TEST(TrainerExit, WithoutAnErrorTheLastLineIsQuoted)
{
    TrainerExit exit;
    exit.status = 3;
    exit.lastOutput = "first\nterminate called";
    EXPECT_THAT(exit.asMessage(), hasIdAndPart("trainer.failed", "said", "terminate called"));
    EXPECT_THAT(exit.message(), AllOf(EndsWith("terminate called"), Not(HasSubstr("first"))));
    EXPECT_THAT(TrainerExit{}.asMessage(), hasId("trainer.done", {{"said", ""}, {"status", 0}, {"signal", 0}}));
}

TEST(TrainerExit, AnUnknownStatusIsGiven)
{
    TrainerExit exit;
    exit.status = 77;
    EXPECT_THAT(exit.asMessage(), hasId("trainer.ended", {{"status", 77}}));
    exit.status = 2;
    EXPECT_THAT(exit.asMessage(), hasId("trainer.wrong_usage", {{"status", 2}}));
}

} // namespace
} // namespace experiment_test
