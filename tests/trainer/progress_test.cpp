#include "trainer/session/progress.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace config::protocol;

namespace {

class ProgressPipe : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(::pipe(m_ends), 0); }
    void TearDown() override
    {
        ::close(m_ends[0]);
        ::close(m_ends[1]);
    }
    [[nodiscard]] std::vector<config::protocol::Progress> readAll()
    {
        ::close(m_ends[1]);
        std::string text;
        char buffer[4096];
        for (ssize_t got = 0; (got = ::read(m_ends[0], buffer, sizeof(buffer))) > 0;)
            text.append(buffer, static_cast<std::size_t>(got));
        std::vector<config::protocol::Progress> records;
        for (std::size_t at = 0; at < text.size();) {
            const auto end = text.find('\n', at);
            auto record = parseProgress(std::string_view(text).substr(at, end - at));
            EXPECT_TRUE(record) << record.error();
            if (!record || end == std::string::npos)
                break;
            records.push_back(*record);
            at = end + 1;
        }
        return records;
    }
    int m_ends[2] = {-1, -1};
};

TEST_F(ProgressPipe, RecordsArriveInOrder)
{
    const auto progress = trainer::progressToDescriptor(m_ends[1]);
    progress->report(Preparing{"x", 1, 2});
    progress->warn(profiler::message<"test.broken", "file {number} is broken">({{"number", 7}}), "b.jpg", "remove it",
                   3);
    const auto records = readAll();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(std::get<Preparing>(records[0]).total, 2);
    EXPECT_EQ(std::get<Notice>(records[1]).count, 3);
    EXPECT_EQ(std::get<Notice>(records[1]).what, "file 7 is broken");
    EXPECT_EQ(std::get<Notice>(records[1]).id, "test.broken");
    EXPECT_EQ(std::get<Notice>(records[1]).parameters, (std::vector<NoticeValue>{{"number", std::int64_t{7}, "7"}}));
}

TEST_F(ProgressPipe, ReaderThatDoesNotReadHoldsNoStepUpAndGetsOnlyWholeLines)
{
    const auto progress = trainer::progressToDescriptor(m_ends[1]);
    const auto begin = std::chrono::steady_clock::now();
    for (int step = 0; step < 20000; ++step)
        progress->report(StepProgress{step, 0, 1, 0.001, 1000, 0.5, 0});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5))
        << "20,000 waits of a second would take hours";
    char byte = 0;
    std::string first;
    while (::read(m_ends[0], &byte, 1) == 1 && byte != '\n')
        first += byte;
    EXPECT_TRUE(parseProgress(first));
}

TEST_F(ProgressPipe, ReaderThatIsGoneEndsNothing)
{
    const auto progress = trainer::progressToDescriptor(m_ends[1]);
    ::close(m_ends[0]);
    for (int i = 0; i < 3; ++i)
        progress->report(Done{});
    m_ends[0] = -1;
}

TEST(TerminalProgress, SaysWhatHappened)
{
    const auto progress = trainer::progressToTerminal();
    testing::internal::CaptureStderr();
    progress->fail(profiler::message<"training.out_of_memory", "Out of memory{at}">({{"at", ""}}), "the allocator",
                   "choose a smaller batch.size");
    progress->report(EpochProgress{3, 0.5, 0.75, 0.875, 0.8125, 12, 1});
    progress->report(Done{100, 10, 320, 2'000'000'000, true, 0.25, 0.75});
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_THAT(text, testing::HasSubstr("error: Out of memory (the allocator): choose a smaller batch.size"));
    EXPECT_THAT(text, testing::HasSubstr("accuracy 87.5 %"));
    EXPECT_THAT(text, testing::HasSubstr("stopped after 100 steps"));
}

TEST(TerminalProgress, StepsAreReportedAtMostOncePerSecond)
{
    const auto progress = trainer::progressToTerminal();
    testing::internal::CaptureStderr();
    for (int step = 0; step < 1000; ++step)
        progress->report(StepProgress{step, 0, 1, 0.001, 1000, 0.5, 0});
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_THAT(text, testing::HasSubstr("step 0: 1.00 ms, 1000 samples/s, loss 0.5000"));
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 3);
}

} // namespace
