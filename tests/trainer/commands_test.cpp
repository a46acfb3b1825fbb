#include "trainer/session/commands.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace config::protocol;
using trainer::Commands;

namespace {

class CommandPipe : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(::pipe(m_ends), 0); }
    void TearDown() override
    {
        ::close(m_ends[0]);
        closeInput();
    }
    void write(const std::string& text) const
    {
        ASSERT_EQ(::write(m_ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void closeInput()
    {
        if (m_ends[1] >= 0)
            ::close(m_ends[1]);
        m_ends[1] = -1;
    }
    int m_ends[2] = {-1, -1};
};

TEST_F(CommandPipe, CommandsComeInTheirOrderHoweverTheBytesArrive)
{
    Commands commands(m_ends[0], false);
    write(toLine(Command(Pause{})) + toLine(Command(Record{7})).substr(0, 9));
    EXPECT_TRUE(std::holds_alternative<Pause>(commands.wait()));
    EXPECT_FALSE(commands.take());
    write(toLine(Command(Record{7})).substr(9));
    EXPECT_EQ(std::get<Record>(commands.wait()).steps, 7);
    EXPECT_FALSE(commands.stopRequested());
}

TEST_F(CommandPipe, StopIsSeenBeforeItIsTaken)
{
    Commands commands(m_ends[0], false);
    write(toLine(Command(Record{1})) + toLine(Command(Stop{})) + toLine(Command(Pause{})));
    const auto token = commands.stopToken();
    while (!commands.stopRequested())
        ::usleep(1000);
    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(std::holds_alternative<Record>(commands.wait()));
    EXPECT_TRUE(std::holds_alternative<Stop>(commands.wait()));
}

TEST_F(CommandPipe, InvalidLinesAreReportedAndSkipped)
{
    Commands commands(m_ends[0], false);
    write("\nnonsense\n" + toLine(Command(Resume{})));
    EXPECT_TRUE(std::holds_alternative<Resume>(commands.wait()));
    const auto complaint = commands.takeComplaint();
    ASSERT_TRUE(complaint);
    EXPECT_NE(complaint->find("nonsense"), std::string::npos);
    EXPECT_FALSE(commands.takeComplaint());
}

TEST_F(CommandPipe, EndOfInputStopsOnlyWhoWaitsForItsStarter)
{
    {
        Commands commands(m_ends[0], false);
        closeInput();
        ::usleep(50000);
        EXPECT_FALSE(commands.stopRequested());
    }
    Commands commands(m_ends[0], true);
    EXPECT_TRUE(std::holds_alternative<Stop>(commands.wait()));
}

TEST_F(CommandPipe, SignalsCountAsStop)
{
    Commands commands(m_ends[0], false);
    std::raise(SIGTERM);
    EXPECT_TRUE(std::holds_alternative<Stop>(commands.wait()));
    EXPECT_TRUE(commands.stopRequested());
}

} // namespace
