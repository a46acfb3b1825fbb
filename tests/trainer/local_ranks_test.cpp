#include "tests/support/message_matchers.h"
#include "tests/trainer/started_again.h"

#include "trainer/parallel/local_ranks.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace trainer;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 20s; // for operations that take a moment

// The ranks of the test below: this program is started for each. The first one fails, the second prints its number
// as long as it lives.
TEST(LocalRanks, DISABLED_Rank)
{
    if (std::getenv("RANK") == std::string("1"))
        ::_exit(7);
    const std::string line = std::to_string(::getpid()) + "\n";
    while (::write(trainer_test::progressDescriptor(), line.data(), line.size()) > 0)
        std::this_thread::sleep_for(5ms);
}

struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    int lines = 0, deaths = 0;
    pid_t lives = 0;
    bool ended = false; ///< the second rank had exited while the failure was reported

    void line(const std::string& text)
    {
        const std::lock_guard lock(mutex);
        lives = std::atoi(text.c_str());
        ++lines;
        changed.notify_all();
    }
    bool moreLines(int count)
    {
        std::unique_lock lock(mutex);
        const int wanted = lines + count;
        return changed.wait_for(lock, kLong, [&] { return lines >= wanted; });
    }
    // Simulates an exchange that cannot be cancelled.
    void death()
    {
        std::unique_lock lock(mutex);
        ++deaths;
        changed.notify_all();
        changed.wait_for(lock, kLong, [this] { return lives > 0; });
        const pid_t other = lives;
        lock.unlock();
        const auto begin = std::chrono::steady_clock::now();
        while (!ended && std::chrono::steady_clock::now() - begin < kLong) {
            ended = ::kill(other, 0) != 0 && errno == ESRCH;
            std::this_thread::sleep_for(5ms);
        }
    }
};

TEST(LocalRanks, ADeathThatTakesLongToTellHoldsUpNeitherTheirWordsNorTheirEnd)
{
    Heard heard;
    {
        const LocalRanks ranks(
            3, {"--gtest_filter=LocalRanks.DISABLED_Rank", "--gtest_also_run_disabled_tests", "--gtest_brief=1"}, {},
            [&](int rank, const std::string& line) {
                EXPECT_EQ(rank, 2);
                heard.line(line);
            },
            [&] { heard.death(); });
        {
            std::unique_lock lock(heard.mutex);
            ASSERT_TRUE(heard.changed.wait_for(lock, kLong, [&] { return heard.deaths == 1 && heard.lines > 0; }));
        }
        const auto death = ranks.death();
        ASSERT_TRUE(death);
        EXPECT_THAT(*death, profiler::test::hasId("training.rank_exited", {{"rank", 1}, {"status", 7}}));
        EXPECT_TRUE(heard.moreLines(3)) << "while the failure is reported";
    }
    EXPECT_TRUE(heard.ended);
    EXPECT_EQ(heard.deaths, 1);
}

TEST(LocalRanks, HaveTheirOwnTraces)
{
    EXPECT_EQ(LocalRanks::traceOf("/a/run.sstrace", 0), "/a/run.sstrace");
    EXPECT_EQ(LocalRanks::traceOf("/a/run.sstrace", 3), "/a/run.rank3.sstrace");
    EXPECT_EQ(LocalRanks::traceOf("", 1), "");
}

TEST(OwnAddress, IsThatOfTheRoute)
{
    EXPECT_EQ(addressTowards("127.0.0.1").value(), "127.0.0.1");
    EXPECT_TRUE(isLoopback(addressTowards("localhost").value()));
    const auto out = addressTowardsAnywhere();
    if (!out)
        GTEST_SKIP() << "this machine has no route to another host";
    EXPECT_FALSE(isLoopback(*out));
    EXPECT_EQ(addressTowards(*out).value(), *out) << "its own";
}

TEST(OwnAddress, OfAnUnknownHostIsAnErrorWithItsName)
{
    const auto found = addressTowards("no-such-host.invalid");
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what.text, testing::HasSubstr("no-such-host.invalid"));
    EXPECT_EQ(found.error().where, "MASTER_ADDR");
}

} // namespace
