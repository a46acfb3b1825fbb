#include "profiler/capture/recorder.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/os/file_lock.h"
#include "tests/support/temporary_folder.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;
using profiler::os::LockFile;
using profiler::os::LockHolder;

namespace {

/// Writes a process id into a trace file's header.
void setPid(const std::filesystem::path& trace, std::int64_t pid)
{
    const int file = open(trace.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(pwrite(file, &pid, sizeof pid, offsetof(container::FileHeader, pid)), ssize_t{sizeof pid});
    close(file);
}

/// The pid of a process that has just ended.
pid_t endedProcess()
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    return child;
}

void recordSomething(Recorder& recorder)
{
    ThreadBuffer& buffer = recorder.nameThisThread("main thread", TrackKind::MainThread);
    buffer.complete(ActivityKind::CpuOp, buffer.intern("op"), traceTime(1), traceTime(2));
    static_cast<void>(recorder.flush());
}

/// Runs `what` in a process that reports through a pipe when it is ready, and then waits to be killed.
class Child {
public:
    template <class What>
    explicit Child(What what)
    {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        m_pid = fork();
        if (m_pid == 0) {
            what();
            static_cast<void>(!write(ends[1], "r", 1));
            for (;;)
                pause();
        }
        char ready = 0;
        close(ends[1]);
        EXPECT_EQ(read(ends[0], &ready, 1), 1);
        close(ends[0]);
    }
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    void kill()
    {
        if (m_pid <= 0)
            return;
        ::kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
        m_pid = 0;
    }
    [[nodiscard]] pid_t pid() const { return m_pid; }

private:
    pid_t m_pid = 0;
};

void startIn(const std::filesystem::path& path)
{
    auto recorder = Recorder::start({.path = path});
    if (!recorder)
        _exit(1);
    recordSomething(**recorder);
    static_cast<void>(recorder->release()); // stays alive until the process is killed
}

bool isLive(const std::filesystem::path& path)
{
    const auto trace = container::readTrace(path);
    EXPECT_TRUE(trace);
    return trace && (*trace)->captureStats().live;
}

} // namespace

TEST(WriterLock, AnUnlockedFileIsDeadEvenIfItsPidIsAlive)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    Child writer([&] { startIn(path); });
    EXPECT_TRUE(isLive(path));
    writer.kill();
    setPid(path, getpid()); // as if the pid had been reused
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace);
    EXPECT_FALSE((*trace)->captureStats().live);
    EXPECT_TRUE((*trace)->captureStats().cut);
    EXPECT_EQ((*trace)->sliceCount(), 1U);
}

TEST(WriterLock, ALockedFileIsAliveEvenIfItsPidIsNotVisible)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path});
    ASSERT_TRUE(recorder);
    recordSomething(**recorder);
    setPid(path, endedProcess());
    EXPECT_TRUE(isLive(path));
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_EQ(os::lockHolder(path), LockHolder::Nobody) << "a finished recorder is no longer a writer";
    EXPECT_FALSE(isLive(path));
}

// In a separate namespace the writer is process 1, and a process 1 is always alive.
TEST(WriterLock, AWriterInAnotherPidNamespaceIsRecognizedByItsLock)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
            _exit(2);
        const pid_t inner = fork();
        if (inner == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            startIn(path);
            static_cast<void>(!write(ends[1], "r", 1));
            for (;;)
                pause();
        }
        close(ends[1]);
        waitpid(inner, nullptr, 0);
        _exit(0);
    }
    close(ends[1]);
    char ready = 0;
    const bool started = read(ends[0], &ready, 1) == 1;
    close(ends[0]);
    if (!started) {
        waitpid(outer, nullptr, 0);
        GTEST_SKIP() << "pid namespaces are not allowed here";
    }
    std::int64_t pid = 0;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(pread(file, &pid, sizeof pid, offsetof(container::FileHeader, pid)), ssize_t{sizeof pid});
    close(file);
    EXPECT_EQ(pid, 1);
    EXPECT_TRUE(isLive(path));
    kill(outer, SIGKILL); // its child is killed too
    waitpid(outer, nullptr, 0);
    for (int i = 0; i < 200 && os::lockHolder(path) == LockHolder::Somebody; ++i)
        std::this_thread::sleep_for(10ms);
    EXPECT_FALSE(isLive(path)) << "process 1 is alive, but did not write it";
}

TEST(WriterLock, AForkedChildDoesNotKeepItsParentsTraceAlive)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Child writer([&] {
        auto recorder = Recorder::start({.path = path});
        recordSomething(**recorder);
        const pid_t child = fork();
        if (child == 0) {
            (*recorder)->leaveToParent();
            const pid_t self = getpid();
            static_cast<void>(!write(ends[1], &self, sizeof self));
            for (;;)
                pause();
        }
        static_cast<void>(recorder->release());
    });
    pid_t orphan = 0;
    ASSERT_EQ(read(ends[0], &orphan, sizeof orphan), ssize_t{sizeof orphan});
    EXPECT_TRUE(isLive(path));
    writer.kill();
    EXPECT_FALSE(isLive(path));
    kill(orphan, SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

TEST(WriterLock, AProgramThatClosesAllItsFilesKeepsTheLock)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    Child writer([&] {
        auto recorder = Recorder::start({.path = path, .drainEvery = 5ms});
        recordSomething(**recorder);
        const std::string own = std::filesystem::weakly_canonical(path).string();
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code failed;
            if (std::filesystem::read_symlink(entry.path(), failed) == own)
                close(std::stoi(entry.path().filename().string()));
        }
        static_cast<void>(recorder->release());
    });
    for (int i = 0; i < 200 && os::lockHolder(path) != LockHolder::Somebody; ++i)
        std::this_thread::sleep_for(10ms);
    EXPECT_EQ(os::lockHolder(path), LockHolder::Somebody);
    EXPECT_TRUE(isLive(path));
}

TEST(WriterLock, OnlyOneOfTwoWritersGetsAFile)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.lock";
    {
        auto first = LockFile::acquire(path);
        ASSERT_TRUE(first);
        EXPECT_FALSE(LockFile::acquire(path));
        EXPECT_EQ(errno, EAGAIN);
        EXPECT_EQ(os::lockHolder(path), LockHolder::Somebody);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(os::lockHolder(path), LockHolder::Unknown);
    Child killed([&] { new LockFile(std::move(*LockFile::acquire(path))); });
    EXPECT_FALSE(LockFile::acquire(path));
    killed.kill();
    EXPECT_TRUE(std::filesystem::exists(path)) << "left behind";
    EXPECT_TRUE(LockFile::acquire(path));
}

TEST(PartRecording, ThePartOfAnotherProcessIsNeverReplaced)
{
    const test_support::TemporaryFolder folder;
    const auto trace = folder / "a.sstrace";
    // As written by a process with the same pid in another namespace, or before an exec.
    const std::filesystem::path taken = trace.string() + "." + std::to_string(getpid());
    ASSERT_TRUE(Recorder::start({.path = taken}));
    const auto size = std::filesystem::file_size(taken);
    const auto part = startPart(trace, {.path = {}});
    ASSERT_TRUE(part) << part.error().message();
    EXPECT_EQ(part->path, taken.string() + ".2");
    EXPECT_EQ(std::filesystem::file_size(taken), size);
    EXPECT_FALSE(Recorder::start({.path = taken, .replace = false}));
    EXPECT_FALSE(startPart(folder / "no/a.sstrace", {.path = {}}));
}

// A reader always sees a track as it was defined at some time, never a mixture.
TEST(Publishing, NoReaderSeesAHalfWrittenTrackDefinition)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path, .ringEvents = 64, .maxThreads = 4, .drainEvery = 2ms});
    ASSERT_TRUE(recorder);
    // The kind changes together with the name.
    const std::string asThread(300, 't'), asMain(300, 'm');
    const std::uint32_t thread = (*recorder)->intern(asThread), main = (*recorder)->intern(asMain);
    ASSERT_TRUE((*recorder)->flush());
    auto tail = container::TailingReader::open(path);
    ASSERT_TRUE(tail);
    std::uint64_t runId = 0;
    {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        ASSERT_EQ(pread(file, &runId, sizeof runId, offsetof(container::FileHeader, runId)), ssize_t{sizeof runId});
        close(file);
    }
    std::atomic<bool> stop = false;
    std::jthread writer([&] {
        for (int i = 0; !stop && i < 15'000; ++i) {
            (*recorder)->nameThisThread(i % 2 ? asThread : asMain, i % 2 ? TrackKind::Thread : TrackKind::MainThread);
            if (i % 50 == 0) {
                (*recorder)->addCounter("counter " + std::to_string(i / 50), "B");
                std::this_thread::sleep_for(200us); // lets the reader run in between, even on a single core
            }
        }
        stop = true;
    });
    std::size_t seen = 0;
    while (!stop || seen == 0) {
        const auto ring = container::recoverRing(path, runId);
        ASSERT_TRUE(ring) << ring.error().message();
        for (const container::TrackEntry& entry : ring->tracks) {
            const auto kind = static_cast<TrackKind>(entry.kind);
            if (kind == TrackKind::Counter)
                continue;
            ++seen;
            ASSERT_TRUE((entry.name == thread && kind == TrackKind::Thread) ||
                        (entry.name == main && kind == TrackKind::MainThread))
                << "name " << entry.name << ", kind " << entry.kind;
            ASSERT_EQ(entry.pid, getpid());
        }
        ASSERT_TRUE((*tail)->poll());
        for (const Track& track : (*tail)->snapshot()->tracks())
            if (track.kind != TrackKind::Counter) {
                ASSERT_EQ(track.name, track.kind == TrackKind::Thread ? asThread : asMain);
            }
    }
    writer.join();
    // The last definition counts.
    const auto ring = container::recoverRing(path, runId);
    ASSERT_TRUE(ring);
    EXPECT_EQ(ring->damaged, 0U);
}

} // namespace capture_test
