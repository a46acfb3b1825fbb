#include "profiler/capture/recorder.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_file.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <csignal>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;

namespace {

/// Limits the size of files: a write beyond the limit is short and then fails, as on a disk that has just become full.
class FileSizeLimit {
public:
    explicit FileSizeLimit(std::uint64_t bytes) : m_handler(std::signal(SIGXFSZ, SIG_IGN))
    {
        getrlimit(RLIMIT_FSIZE, &m_before);
        set(bytes);
    }
    ~FileSizeLimit()
    {
        setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    void set(std::uint64_t bytes) const
    {
        rlimit limit = m_before;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    void lift() const { setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before{};
    void (*m_handler)(int);
};

} // namespace

TEST(FullDisk, APartialFrameIsCutOffAndWritingContinuesLater)
{
    const test_support::TemporaryFolder folder;
    auto writer = container::FrameWriter::create(folder / "a.sstrace", 1);
    ASSERT_TRUE(writer);
    container::Payload payload;
    container::appendString(payload, 1, std::string(1000, 'x'));
    ASSERT_TRUE((*writer)->write(container::FrameType::Strings, payload));
    const std::uint64_t size = (*writer)->bytesWritten();
    {
        const FileSizeLimit limit(size + 500);
        const auto failed = (*writer)->write(container::FrameType::Strings, payload);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, Error::Code::NoSpace);
        EXPECT_EQ(failed.error().where, (folder / "a.sstrace").string());
        EXPECT_THAT(failed.error().hint, testing::HasSubstr("space"));
    }
    EXPECT_EQ(std::filesystem::file_size(folder / "a.sstrace"), size);
    EXPECT_TRUE(parseTrace(folder / "a.sstrace").whole);
    ASSERT_TRUE((*writer)->write(container::FrameType::End, {}));
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.ended);
    EXPECT_TRUE(trace.problems.empty());
}

TEST(FullDisk, ARecordingThatCannotStartKeepsTheOldTrace)
{
    const test_support::TemporaryFolder folder;
    std::ofstream(folder / "a.sstrace") << "old";
    const FileSizeLimit limit(100'000);
    const auto recorder = Recorder::start({.path = folder / "a.sstrace"});
    ASSERT_FALSE(recorder);
    EXPECT_EQ(recorder.error().code, Error::Code::NoSpace);
    EXPECT_EQ(std::filesystem::file_size(folder / "a.sstrace"), 3U);
    EXPECT_EQ(folder.files(), 1U);
}

TEST(FullDisk, TheRunContinuesAndLossesAreCountedAndReported)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path, .ringEvents = 128, .drainEvery = 1h});
    ASSERT_TRUE(recorder);
    ThreadBuffer& buffer = (*recorder)->addBuffer("main thread", TrackKind::MainThread);
    const auto record = [&](int count) {
        for (int i = 0; i < count; ++i)
            buffer.complete(ActivityKind::CpuOp, 0, traceTime(i), traceTime(i + 1));
    };
    record(10);
    ASSERT_TRUE((*recorder)->flush());
    const std::uint64_t runId = parseTrace(path).runId;
    {
        const FileSizeLimit limit(std::filesystem::file_size(path) + 100);
        record(200);
        EXPECT_FALSE((*recorder)->flush());
        record(50);
        const auto finished = (*recorder)->finish();
        ASSERT_FALSE(finished);
        EXPECT_EQ(finished.error().code, Error::Code::NoSpace);
    }
    EXPECT_EQ((*recorder)->error().error().code, Error::Code::NoSpace);
    EXPECT_EQ((*recorder)->stats().dropped, 122U); // the 128 events in the ring stay in its file
    ParsedTrace trace = parseTrace(path);
    EXPECT_TRUE(trace.whole);
    EXPECT_FALSE(trace.ended);
    const auto left = container::recoverRing(path, runId);
    ASSERT_TRUE(left) << left.error().message();
    trace.add(*left);
    EXPECT_EQ(trace.events.size(), 138U);
}

TEST(FullDisk, FreedSpaceIsUsed)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path, .ringEvents = 128, .drainEvery = 1h});
    ASSERT_TRUE(recorder);
    ThreadBuffer& buffer = (*recorder)->addBuffer("main thread", TrackKind::MainThread);
    ASSERT_TRUE((*recorder)->flush());
    const FileSizeLimit limit(std::filesystem::file_size(path) + 100);
    for (int i = 0; i < 20; ++i)
        buffer.complete(ActivityKind::CpuOp, buffer.intern("op"), traceTime(i), traceTime(i + 1));
    EXPECT_FALSE((*recorder)->flush());
    limit.lift();
    EXPECT_FALSE((*recorder)->finish()) << "the first error is still reported";
    const ParsedTrace trace = parseTrace(path);
    EXPECT_TRUE(trace.ended);
    EXPECT_EQ(trace.events.size(), 20U);
    EXPECT_TRUE(trace.problems.empty());
    EXPECT_EQ((*recorder)->stats().dropped, 0U);
}

namespace {

/// What a child process reports through its exit status.
enum Outcome { kAsExpected, kNoSmallDisk, kStartedAnyway, kWrongError, kDidNotStart, kNotDropped };

/// A user who is not root becomes root in a new user namespace.
bool ownMounts()
{
    if (unshare(CLONE_NEWNS) == 0)
        return true;
    const std::string user = "0 " + std::to_string(geteuid()) + " 1", group = "0 " + std::to_string(getegid()) + " 1";
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user;
    std::ofstream("/proc/self/gid_map") << group;
    return true;
}

/// Mounts a file system in memory that other processes cannot see.
bool mountSmallDisk(const std::filesystem::path& where, const char* size)
{
    return ownMounts() && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", where.c_str(), "tmpfs", 0, size) == 0;
}

Outcome startOnFullDisk(const std::filesystem::path& folder)
{
    if (!mountSmallDisk(folder, "size=1m"))
        return kNoSmallDisk;
    const auto recorder = Recorder::start({.path = folder / "a.sstrace"});
    if (recorder)
        return kStartedAnyway;
    return recorder.error().code == Error::Code::NoSpace ? kAsExpected : kWrongError;
}

Outcome secondThreadOnFullDisk(const std::filesystem::path& folder)
{
    if (!mountSmallDisk(folder, "size=6m"))
        return kNoSmallDisk;
    const auto recorder = Recorder::start({.path = folder / "a.sstrace", .maxThreads = 4});
    if (!recorder)
        return kDidNotStart;
    for (const char* name : {"first", "second", "third"})
        (*recorder)->addBuffer(name, TrackKind::Thread).complete(ActivityKind::CpuOp, 0, traceTime(0), traceTime(1));
    if ((*recorder)->stats().dropped == 0)
        return kNotDropped;
    const auto error = (*recorder)->error();
    return !error && error.error().code == Error::Code::NoSpace ? kAsExpected : kWrongError;
}

int inChild(const std::function<Outcome()>& what)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(what());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST(FullDisk, ARecordingDoesNotStartWithoutRoomForItsRing)
{
    const test_support::TemporaryFolder folder;
    const int outcome = inChild([&] { return startOnFullDisk(folder.path()); });
    if (outcome == kNoSmallDisk)
        GTEST_SKIP() << "no file system may be mounted here";
    EXPECT_EQ(outcome, kAsExpected);
}

TEST(FullDisk, AThreadWithoutRoomForItsRingDropsEventsAndSaysWhy)
{
    const test_support::TemporaryFolder folder;
    const int outcome = inChild([&] { return secondThreadOnFullDisk(folder.path()); });
    if (outcome == kNoSmallDisk)
        GTEST_SKIP() << "no file system may be mounted here";
    EXPECT_EQ(outcome, kAsExpected);
}

} // namespace capture_test
