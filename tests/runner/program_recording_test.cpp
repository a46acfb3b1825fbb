#include "advisor/runner/program_recording.h"

#include "tests/runner/traces_of_processes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

// Recordings of programs that run for hours, with a recorder that records nothing.
namespace runner_test {

using advisor::runner::RecordingPlan;
using profiler::Error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::string kMark = "RECORDING_TEST_MARK=" + std::to_string(::getpid());

class ProgramRecording : public testing::Test {
protected:
    ProgramRecording()
    {
        // Like a program that is found there: one file.
        const auto recorder = m_folder / "../recorder";
        std::ofstream(recorder) << "#!/bin/sh\nexec " << PYTHON << " " << SCRIPTED_RECORDER << " \"$@\"\n";
        std::filesystem::permissions(recorder, std::filesystem::perms::owner_all);
        ::setenv("STEPSCOPE_CLI", recorder.c_str(), 1);
        m_plan.command = {"sh", "-c", "echo trains; touch made.txt; exec sleep 500"};
        m_plan.folder = m_folder.path();
        m_plan.environment = {kMark, "STEPS=12"};
        m_plan.isolation = advisor::runner::checkPrivateViews() ? advisor::runner::Isolation::Overlay
                                                                : advisor::runner::Isolation::Copy;
        m_plan.log = m_folder / "../recording.log";
        m_plan.least = std::chrono::milliseconds(200);
    }
    ~ProgramRecording() override { ::unsetenv("STEPSCOPE_CLI"); }

    profiler::Result<void> record(const std::stop_token& stop = {})
    {
        auto recorded = recordProgram(m_plan, m_trace, stop);
        EXPECT_THAT(processesWith(kMark), IsEmpty());
        EXPECT_THAT(m_folder.scratch(), IsEmpty());
        EXPECT_THAT(m_folder.files(), IsEmpty()) << "files that the program writes are not the user's";
        return recorded;
    }
    [[nodiscard]] nlohmann::json trace() const { return nlohmann::json::parse(readText(m_trace), nullptr, false); }

    const Folder m_folder;
    const std::filesystem::path m_trace = m_folder / "../t.sstrace";
    RecordingPlan m_plan;
};

TEST_F(ProgramRecording, AProgramThatTrainsIsInterruptedAndItsTraceTaken)
{
    m_plan.hookChanges = R"({"compile":"true"})";
    const auto recorded = record();
    ASSERT_TRUE(recorded) << recorded.error().message();
    EXPECT_EQ(trace()["command"], m_plan.command);
    EXPECT_THAT(trace()["signals"], ElementsAre(2));
    EXPECT_EQ(trace()["changes"], m_plan.hookChanges);
    EXPECT_EQ(readText(m_plan.log), "trains\n");
}

TEST_F(ProgramRecording, SlowStepsAreWaitedForTenTimesAsLong)
{
    m_plan.environment[1] = "STEPS=3";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(record());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 10 * m_plan.least);
}

TEST_F(ProgramRecording, AProgramThatEndsByItselfIsRecordedToItsEnd)
{
    m_plan.command = {"true"};
    m_plan.environment.pop_back();
    ASSERT_TRUE(record());
    EXPECT_THAT(trace()["signals"], IsEmpty());
}

TEST_F(ProgramRecording, ThePatchedFileIsSeen)
{
    if (m_plan.isolation != advisor::runner::Isolation::Overlay)
        GTEST_SKIP() << "no private views here";
    m_plan.command = {"sh", "-c", "cat speed.txt"};
    m_plan.files = {{m_folder / "speed.txt", "fast\n"}};
    ASSERT_TRUE(record());
    EXPECT_EQ(readText(m_plan.log), "fast\n");
}

TEST_F(ProgramRecording, TheReasonWhyNothingWasRecordedIsReportedWithTheLastOutput)
{
    m_plan.command = {"sh", "-c", "echo last words; exit 3"};
    m_plan.environment = {kMark, "FAIL=1"};
    const auto recorded = record();
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().what.id, "record.nothing.used");
    EXPECT_THAT(recorded.error().where, HasSubstr("last words"));
}

TEST_F(ProgramRecording, AProgramThatFailsBeforeItsFirstStepIsAnError)
{
    m_plan.command = {"sh", "-c", "echo no such data; exit 3"};
    m_plan.environment = {kMark};
    const auto recorded = record();
    ASSERT_FALSE(recorded);
    EXPECT_EQ(recorded.error().what.id, "recording.program_failed");
    EXPECT_THAT(recorded.error().where, HasSubstr("no such data"));
    EXPECT_FALSE(std::filesystem::exists(m_trace));
    // What it trained before counts.
    m_plan.environment.emplace_back("STEPS=3");
    EXPECT_TRUE(record());
}

TEST_F(ProgramRecording, AHangAndACancelledRecordingAreEnded)
{
    m_plan.environment = {kMark};
    m_plan.startPatience = std::chrono::seconds(1);
    const auto hung = record();
    ASSERT_FALSE(hung);
    EXPECT_EQ(hung.error().what.id, "recording.no_step");
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = record(stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, Error::Code::Cancelled);
}

TEST_F(ProgramRecording, ServicesThatTheUserHasSwitchedOffStayOff)
{
    m_plan.command = {"true"};
    ASSERT_TRUE(record());
    EXPECT_EQ(trace()["wandb"], "offline");
    m_plan.environment.emplace_back("WANDB_MODE=disabled");
    ASSERT_TRUE(record());
    EXPECT_EQ(trace()["wandb"], "disabled");
    m_plan.environment.back() = "WANDB_MODE=online";
    ASSERT_TRUE(record());
    EXPECT_EQ(trace()["wandb"], "offline");
}

} // namespace
} // namespace runner_test
