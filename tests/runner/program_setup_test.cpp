#include "advisor/change/program_setup.h"

#include "advisor/change/program_patch.h"
#include "tests/runner/recorded_program.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <memory>

// How settings of a recorded program become the arms of an experiment.
namespace runner_test {

using advisor::ProgramPlan;
using advisor::change::checkRecordingOf;
using advisor::change::setChanges;
using advisor::change::setCommand;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Steps that wait for data, and the plan of an experiment with the program.
class ProgramSetup : public testing::Test, protected RecordedProgram {
protected:
    ProgramSetup()
    {
        m_plan.setup.folder = m_folder.path();
        m_plan.setup.arms[0].command = {PYTHON, "train.py", "--epochs", "3"};
        m_plan.setup.arms[1] = m_plan.setup.arms[0];
    }
    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace() const { return RecordedProgram::trace(kWaitingSteps); }
    profiler::Result<void> set(const std::vector<advisor::change::WantedChange>& changes,
                               const std::vector<advisor::change::WantedChange>& kept = {})
    {
        return setChanges(m_plan, *trace(),
                          {.changes = changes, .kept = kept, .advice = nullptr, .patcher = patcher()});
    }

    ProgramPlan m_plan;
};

TEST_F(ProgramSetup, TheSecondArmSeesThePatchedFile)
{
    const auto done = set({{"loader.workers", "4"}});
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_THAT(m_plan.changes, ElementsAre(advisor::Toggle{"loader.workers", "0", "4"}));
    EXPECT_THAT(m_plan.setup.arms[0].files, IsEmpty());
    ASSERT_EQ(m_plan.setup.arms[1].files.size(), 1U);
    EXPECT_EQ(m_plan.setup.arms[1].files[0].path, m_script);
    EXPECT_THAT(m_plan.setup.arms[1].files[0].text, HasSubstr("num_workers=4"));
    EXPECT_EQ(m_plan.patch.how, "source");
    EXPECT_THAT(m_plan.patch.diff, HasSubstr("+loader = DataLoader(data, batch_size=32, num_workers=4)"));
    EXPECT_EQ(readText(m_script), kScript);
}

TEST_F(ProgramSetup, KeptChangesAreInBothArms)
{
    const auto done = set({{"loader.pin_memory", "true"}}, {{"loader.workers", "4"}});
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_THAT(m_plan.changes, ElementsAre(advisor::Toggle{"loader.pin_memory", "", "true"}));
    ASSERT_EQ(m_plan.setup.arms[0].files.size(), 1U);
    EXPECT_THAT(m_plan.setup.arms[0].files[0].text, HasSubstr("num_workers=4)"));
    EXPECT_THAT(m_plan.setup.arms[1].files[0].text, HasSubstr("num_workers=4, pin_memory=True)"));
}

TEST_F(ProgramSetup, AKeptValueIsReplacedByAnother)
{
    ASSERT_TRUE(set({{"loader.workers", "2"}}, {{"loader.workers", "4"}}));
    EXPECT_THAT(m_plan.changes, ElementsAre(advisor::Toggle{"loader.workers", "4", "2"}));
    EXPECT_THAT(m_plan.setup.arms[0].files[0].text, HasSubstr("num_workers=4)"));
    EXPECT_THAT(m_plan.setup.arms[1].files[0].text, HasSubstr("num_workers=2)"));
}

TEST_F(ProgramSetup, AnOptionOfTheCommandIsChangedInTheUsersOwnCommand)
{
    passWorkersAsOption();
    ASSERT_TRUE(set({{"loader.workers", "4"}}));
    EXPECT_THAT(m_plan.setup.arms[1].command, ElementsAre(PYTHON, "train.py", "--epochs", "3", "--workers", "4"));
    EXPECT_EQ(m_plan.patch.how, "argument");
    EXPECT_EQ(m_plan.patch.command, m_plan.setup.arms[1].command);
}

TEST_F(ProgramSetup, TheFindingThatProposesTheChangePredictsIt)
{
    auto advice = advisor::advise(*trace(), nullptr);
    advice.erase(advice.begin(), std::find_if(advice.begin(), advice.end(),
                                              [](const auto& row) { return row.id == "loader.workers"; }));
    ASSERT_EQ(advice.front().advice.state, advisor::State::Fires) << advice.front().advice.reason.text;
    ASSERT_TRUE(advice.front().advice.proposed);
    const std::string to = advice.front().advice.proposed->to;
    advice.front().advice.saving = advisor::Saving{advisor::SavingUnit::UsPerStep, 100, 200, 300, 1000};
    const auto predictedOf = [&](const std::string& value) {
        EXPECT_TRUE(
            setChanges(m_plan, *trace(),
                       {.changes = {{"loader.workers", value}}, .kept = {}, .advice = &advice, .patcher = patcher()}));
        return m_plan.predicted;
    };
    ASSERT_TRUE(predictedOf(to));
    EXPECT_EQ(m_plan.predicted->mid, 200);
    EXPECT_FALSE(predictedOf("7")) << "another value than the finding's";
    advice.front().advice.saving->unit = advisor::SavingUnit::UsPerEpoch;
    EXPECT_FALSE(predictedOf(to)) << "steps are measured, not epochs";
}

TEST_F(ProgramSetup, WhatActsAtTheStartOfAnEpochIsMeasuredThere)
{
    m_facts["objects"][0]["settings"]["num_workers"]["value"] = 2;
    auto advice = advisor::advise(*trace(), nullptr);
    advice.resize(1);
    advice.front().advice.state = advisor::State::Fires;
    advice.front().advice.proposed = advisor::Toggle{"loader.persistent_workers", "false", "true"};
    advice.front().advice.saving = advisor::Saving{advisor::SavingUnit::UsPerEpoch, 100, 200, 300, 1000};
    const auto done = setChanges(
        m_plan, *trace(),
        {.changes = {{"loader.persistent_workers", "true"}}, .kept = {}, .advice = &advice, .patcher = patcher()});
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(m_plan.measure, "epoch");
    ASSERT_TRUE(m_plan.predicted);
    EXPECT_EQ(m_plan.predicted->mid, 200);
    ASSERT_TRUE(set({{"loader.workers", "4"}}));
    EXPECT_EQ(m_plan.measure, "steps");
}

TEST_F(ProgramSetup, TheUserMayChooseWhatIsTimed)
{
    ASSERT_TRUE(setCommand(m_plan, "sh -c 'exit 0'"));
    EXPECT_EQ(m_plan.measure, "steps");
    advisor::change::setMeasure(m_plan, "validation");
    EXPECT_EQ(m_plan.measure, "validation");

    ASSERT_TRUE(set({{"loader.workers", "4"}}));
    m_plan.predicted = advisor::Saving{advisor::SavingUnit::UsPerStep, 100, 200, 300, 1000};
    advisor::change::setMeasure(m_plan, "steps");
    EXPECT_TRUE(m_plan.predicted);
    advisor::change::setMeasure(m_plan, "epoch");
    EXPECT_FALSE(m_plan.predicted) << "it was about steps";
}

TEST_F(ProgramSetup, AFindingWhoseChangeCanBeMeasuredGetsAToggle)
{
    auto advice = advisor::advise(*trace(), nullptr);
    const auto patches = advisor::change::patchFindings(*trace(), advice, patcher());
    const auto& row =
        *std::find_if(advice.begin(), advice.end(), [](const auto& one) { return one.id == "loader.workers"; });
    ASSERT_TRUE(row.advice.toggle);
    EXPECT_EQ(row.advice.toggle->from, "0");
    ASSERT_TRUE(patches.at("loader.workers").patch);
    EXPECT_THAT(patches.at("loader.workers").patch->diff, HasSubstr("num_workers="));
}

TEST_F(ProgramSetup, ATraceOfAnotherProgramIsRefused)
{
    const auto idOf = [&] {
        const auto done = set({{"loader.workers", "4"}});
        return done ? std::string() : done.error().what.id;
    };
    m_folder.write("other.py", "");
    auto& command = m_plan.setup.arms[0].command;
    command = {PYTHON, "other.py"};
    EXPECT_EQ(idOf(), "experiment.program.other_program");
    command = {"torchrun", "--nproc-per-node", "2", "train.py"};
    EXPECT_EQ(idOf(), "");
    command = {"env", "A=1", PYTHON, m_script.string()};
    EXPECT_EQ(idOf(), "");
    command = {PYTHON, "-m", "package.train"};
    EXPECT_EQ(idOf(), "experiment.program.other_program");
    m_facts["module"] = "package.train";
    EXPECT_EQ(idOf(), "");
    m_plan.setup.folder = "/";
    EXPECT_EQ(idOf(), "experiment.program.other_folder");
}

TEST_F(ProgramSetup, AWrapperIsTheRecordedOne)
{
    m_plan.setup.arms[0].command = {"sh", "run.sh", "--fast"};
    const auto recorded = [&](const std::string& command) {
        auto trace = test_support::traceFromText("meta record.command " + command + "\nmeta program " + m_facts.dump());
        return checkRecordingOf(*trace, m_plan.setup.arms[0].command, m_folder.path()).has_value();
    };
    EXPECT_TRUE(recorded("sh run.sh"));
    EXPECT_FALSE(recorded("sh other.sh"));
}

TEST_F(ProgramSetup, WhatCannotBeMeasuredIsRefusedAndChangesNothing)
{
    const auto notMeasured = set({{"sync.every_n_steps", "10"}});
    ASSERT_FALSE(notMeasured);
    EXPECT_EQ(notMeasured.error().code, profiler::Error::Code::Unsupported);
    EXPECT_EQ(m_plan.setup.arms[1].command, m_plan.setup.arms[0].command);
    EXPECT_THAT(m_plan.setup.arms[1].files, IsEmpty());
    EXPECT_THAT(m_plan.changes, IsEmpty());
}

TEST_F(ProgramSetup, AFileThatWasEditedSinceIsNotPatched)
{
    m_folder.write("train.py", std::string(kScript) + "# edited\n");
    ASSERT_TRUE(set({{"loader.workers", "4"}}));
    EXPECT_THAT(m_plan.setup.arms[1].files, IsEmpty());
    EXPECT_EQ(m_plan.patch.how, "hook");
    EXPECT_EQ(m_plan.setup.arms[1].hookChanges, R"({"loader.workers":"4"})");
}

TEST_F(ProgramSetup, OtherCommandsAreReadAsAShellReadsThem)
{
    ASSERT_TRUE(setCommand(m_plan, "sh -c 'exit 0'"));
    EXPECT_THAT(m_plan.setup.arms[1].command, ElementsAre("sh", "-c", "exit 0"));
    EXPECT_EQ(m_plan.patch.how, "argument");
    const auto empty = setCommand(m_plan, "  ");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().what.id, "experiment.program.empty_command");
    EXPECT_FALSE(setCommand(m_plan, "no-such-program")) << "checked before anything runs";
}

} // namespace
} // namespace runner_test
