#include "profiler/os/connections.h"

#include "profiler/os/files.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace profiler::os {
namespace {

using std::chrono::milliseconds;

TEST(Pipes, HaveNumbersAboveTheStandardStreamsAndAreClosedByExec)
{
    const int input = ::dup(0);
    ::close(0);
    auto pipe = makePipe(); // would get number 0
    ::dup2(input, 0);
    ::close(input);
    ASSERT_TRUE(pipe);
    EXPECT_GT(pipe->reading.get(), 2);
    EXPECT_NE(::fcntl(pipe->reading.get(), F_GETFD) & FD_CLOEXEC, 0);
    setInherited(pipe->reading.get(), true);
    EXPECT_EQ(::fcntl(pipe->reading.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Pipes, AreReadUntilTheirEnd)
{
    auto pipe = makePipe();
    ASSERT_TRUE(pipe);
    EXPECT_EQ(writeAll(pipe->writing.get(), "some").error, 0);
    std::string text;
    EXPECT_TRUE(readNext(pipe->reading.get(), text));
    EXPECT_EQ(text, "some");
    pipe->writing.reset();
    EXPECT_FALSE(readNext(pipe->reading.get(), text));
    EXPECT_EQ(text, "some");
}

TEST(Pipes, ANonBlockingPipeIsReadWithoutWaiting)
{
    auto pipe = makePipe();
    ASSERT_TRUE(pipe);
    setNonBlocking(pipe->reading.get());
    std::string text;
    EXPECT_TRUE(readAvailable(pipe->reading.get(), text)) << "more may arrive";
    EXPECT_EQ(writeAll(pipe->writing.get(), std::string(20'000, 'x')).error, 0);
    pipe->writing.reset();
    EXPECT_FALSE(readAvailable(pipe->reading.get(), text));
    EXPECT_EQ(text.size(), 20'000U);
}

TEST(Pipes, AFullNonBlockingPipeAcceptsAPart)
{
    auto pipe = makePipe();
    ASSERT_TRUE(pipe);
    setNonBlocking(pipe->writing.get());
    const std::string text(1 << 20, 'x');
    const Transfer written = writeAll(pipe->writing.get(), text);
    EXPECT_EQ(written.error, EAGAIN);
    EXPECT_GT(written.bytes, 0U);
    EXPECT_LT(written.bytes, text.size());
}

TEST(Pipes, WaitingEndsWithTheFirstThatIsReady)
{
    auto silent = makePipe(), speaking = makePipe(), closed = makePipe();
    ASSERT_TRUE(silent && speaking && closed);
    std::array awaited = {Awaited{silent->reading.get()}, Awaited{speaking->reading.get()}, Awaited{-1}};
    waitForAny(awaited, milliseconds(1));
    EXPECT_FALSE(awaited[0].isReady || awaited[1].isReady || awaited[2].isReady) << "the time budget was used up";
    EXPECT_EQ(writeAll(speaking->writing.get(), "x").error, 0);
    waitForAny(awaited, std::nullopt);
    EXPECT_FALSE(awaited[0].isReady);
    EXPECT_TRUE(awaited[1].isReady);
    EXPECT_FALSE(awaited[2].isReady);
    closed->writing.reset();
    std::array ended = {Awaited{closed->reading.get()}};
    waitForAny(ended, std::nullopt);
    EXPECT_TRUE(ended[0].isReady) << "closed by the other side";
}

TEST(Pipes, AReaderThatIsGoneIsNoticed)
{
    auto pipe = makePipe();
    ASSERT_TRUE(pipe);
    EXPECT_TRUE(hasReader(pipe->writing.get()));
    pipe->reading.reset();
    EXPECT_FALSE(hasReader(pipe->writing.get()));
}

TEST(Pipes, SendingWithoutAReaderFailsWithoutASignal)
{
    auto ends = makeSocketPair();
    ASSERT_TRUE(ends);
    EXPECT_TRUE(sendAll(ends->first.get(), "text", milliseconds(0)));
    std::string text;
    EXPECT_TRUE(readNext(ends->second.get(), text));
    EXPECT_EQ(text, "text");
    EXPECT_FALSE(sendAll(ends->first.get(), std::string(8 << 20, 'x'), milliseconds(1))) << "there is no reader";
    EXPECT_EQ(errno, EAGAIN);
    ends->second.reset();
    EXPECT_FALSE(sendAll(ends->first.get(), "text", milliseconds(0)));
    EXPECT_EQ(errno, EPIPE);
}

TEST(Pipes, AMemoryFileHoldsItsText)
{
    const Descriptor file = makeMemoryFile("contents");
    ASSERT_TRUE(file);
    EXPECT_EQ(readFile("/proc/self/fd/" + std::to_string(file.get())), "contents");
    EXPECT_TRUE(isOpen(file.get()));
    EXPECT_FALSE(isOpen(-1));
    EXPECT_FALSE(isTerminal(file.get()));
}

TEST(Network, AFreePortCanBeUsedAndTheOwnAddressIsOfTheRoute)
{
    const int port = freePort();
    EXPECT_GT(port, 0);
    EXPECT_LT(port, 65536);
    std::string why;
    EXPECT_EQ(ownAddressTowards("127.0.0.1", why), "127.0.0.1");
    EXPECT_EQ(why, "");
    EXPECT_EQ(ownAddressTowards("256.1.1.1.invalid", why), "");
    EXPECT_NE(why, "");
}

} // namespace
} // namespace profiler::os
