#include "profiler/os/signals.h"

#include "profiler/os/connections.h"
#include "profiler/os/process.h"

#include <array>
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace profiler::os {
namespace {

sigset_t blockedNow()
{
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return mask;
}

bool isBlocked(int signal)
{
    const sigset_t mask = blockedNow();
    return sigismember(&mask, signal) == 1;
}

bool isReadable(int descriptor)
{
    std::array awaited = {Awaited{descriptor}};
    waitForAny(awaited, std::chrono::milliseconds(0));
    return awaited[0].isReady;
}

TEST(BlockedSignals, AThreadStartedMeanwhileReceivesNone)
{
    bool blocksAll = false;
    std::thread thread;
    {
        const BlockedSignals blocked;
        thread =
            std::thread([&blocksAll] { blocksAll = isBlocked(SIGTERM) && isBlocked(SIGINT) && isBlocked(SIGUSR1); });
    }
    thread.join();
    EXPECT_TRUE(blocksAll);
    EXPECT_FALSE(isBlocked(SIGTERM));
}

TEST(BlockedSignals, ASignalWaitsAndNamesItsSender)
{
    const BlockedSignals blocked(std::array{SIGUSR1, SIGUSR2});
    EXPECT_FALSE(blocked.take());
    ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
    const auto received = blocked.wait();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->number, SIGUSR1);
    EXPECT_EQ(received->sender, ::getpid());
    EXPECT_FALSE(received->isFromKernel);
    EXPECT_FALSE(blocked.take());
}

TEST(BlockedSignals, SomeCanStayBlocked)
{
    {
        BlockedSignals blocked(std::array{SIGUSR1, SIGUSR2});
        blocked.keepBlocked(std::array{SIGUSR2});
    }
    EXPECT_FALSE(isBlocked(SIGUSR1));
    EXPECT_TRUE(isBlocked(SIGUSR2));
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

TEST(SignalWatch, TheFirstSignalIsReadableAndTheSecondHasItsEffect)
{
    std::signal(SIGUSR1, SIG_DFL);
    {
        const SignalWatch watch(std::array{SIGUSR1}, SignalWatch::Ignored::Keep);
        EXPECT_FALSE(isReadable(watch.descriptor()));
        std::raise(SIGUSR1);
        EXPECT_TRUE(isReadable(watch.descriptor()));
        EXPECT_TRUE(watch.take());
        EXPECT_FALSE(watch.take());
        struct sigaction now {};
        ::sigaction(SIGUSR1, nullptr, &now);
        EXPECT_EQ(now.sa_handler, SIG_DFL);
    }
    struct sigaction after {};
    ::sigaction(SIGUSR1, nullptr, &after);
    EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(SignalWatch, IsWokenByOtherThreads)
{
    const SignalWatch watch(std::array{SIGUSR1}, SignalWatch::Ignored::Keep);
    std::jthread waker([&watch] { watch.wake(); });
    std::array awaited = {Awaited{watch.descriptor()}};
    waitForAny(awaited, std::nullopt);
    EXPECT_TRUE(watch.take());
}

TEST(SignalWatch, AnIgnoredSignalStaysIgnoredUnlessItIsToBeCaught)
{
    std::signal(SIGUSR1, SIG_IGN);
    {
        const SignalWatch watch(std::array{SIGUSR1}, SignalWatch::Ignored::Keep);
        std::raise(SIGUSR1);
        EXPECT_FALSE(watch.take());
    }
    {
        const SignalWatch watch(std::array{SIGUSR1}, SignalWatch::Ignored::Catch);
        std::raise(SIGUSR1);
        EXPECT_TRUE(watch.take());
    }
    EXPECT_EQ(std::signal(SIGUSR1, SIG_DFL), SIG_IGN) << "restored";
}

} // namespace
} // namespace profiler::os
