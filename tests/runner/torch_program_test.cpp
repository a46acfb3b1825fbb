#include "advisor/experiment/program_experiment.h"
#include "advisor/runner/unified_diff.h"
#include "tests/runner/traces_of_processes.h"

#include <gmock/gmock.h>
#include <unistd.h>

// Experiments on programs that really train.
namespace runner_test {

using advisor::ProgramPlan;
using advisor::Verdict;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;

namespace {

const std::string kMark = "RUNNER_TEST_MARK=" + std::to_string(::getpid());

class TorchProgram : public testing::Test {
protected:
    TorchProgram()
    {
        m_folder.write("train.py", readText(std::filesystem::path(PROGRAMS) / "train.py"));
        for (auto& arm : plan.setup.arms)
            arm.command = {PYTHON_WITH_TORCH, "train.py"};
        plan.setup.folder = m_folder.path();
        plan.setup.environment = {kMark};
        plan.setup.hooks.startup = HOOKS;
        plan.setup.logs = m_folder / "..";
        plan.setup.isolation = advisor::runner::checkPrivateViews() ? advisor::runner::Isolation::Overlay
                                                                    : advisor::runner::Isolation::Copy;
        plan.turn = std::chrono::milliseconds(500);
        before = m_folder.files();
    }
    auto run()
    {
        auto result = runProgramExperiment(plan, {}, {});
        EXPECT_THAT(processesWith(kMark), IsEmpty());
        EXPECT_THAT(m_folder.scratch(), IsEmpty());
        EXPECT_EQ(m_folder.files(), before) << "nothing of the user's changes";
        return result;
    }
    const Folder m_folder;
    ProgramPlan plan;
    std::map<std::string, std::string> before;
};

TEST_F(TorchProgram, ADiffIsMeasuredInTheSecondArm)
{
    const auto files = advisor::runner::applyDiff("--- a/train.py\n+++ b/train.py\n@@ -11 +11 @@\n"
                                                  "-READ_SECONDS = 0.002\n+READ_SECONDS = 0.0001\n",
                                                  m_folder.path());
    ASSERT_TRUE(files) << files.error().message();
    plan.setup.arms[1].files = *files;
    const auto result = run();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->measured.verdict, Verdict::Pays) << result->measured.whyText();
    // 8 reads of 2.1 ms compared with 8 of 0.2 ms, and a step of less than 1 ms, or of 10 ms on a busy machine. The
    // reads alone are 20 times as fast.
    EXPECT_THAT(result->measured.samplesPerSecond.value, AllOf(Ge(1.8), Le(20.0)));
    EXPECT_EQ(result->measured.loss.kind, advisor::LossKind::NotWorse) << "the batches are the same";
    EXPECT_DOUBLE_EQ(result->measured.loss.a, result->measured.loss.b);
    EXPECT_THAT(result->program.seeded, ElementsAre("random", "torch"));
}

TEST_F(TorchProgram, AShortCommandIsStartedAgainAndAFailingOneRefused)
{
    plan.setup.arms[0].command.insert(plan.setup.arms[0].command.end(), {"--epochs", "6"});
    plan.setup.arms[1].command.push_back("--fail");
    const auto result = run();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->isRefused);
    EXPECT_EQ(result->program.failure->traceback.back(), "RuntimeError: the second epoch fails");
    EXPECT_THAT(result->program.failure->traceback, Contains(HasSubstr("train.py\", line")));
}

} // namespace
} // namespace runner_test
