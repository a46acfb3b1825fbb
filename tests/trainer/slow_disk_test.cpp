#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/activity.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace trainer_test;
using namespace profiler;
using namespace std::chrono_literals;

namespace {

/// A log that accepts nothing until it is read: a pipe of one page.
class SlowLog {
public:
    explicit SlowLog(const std::filesystem::path& path)
    {
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        m_pipe = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        EXPECT_GE(::fcntl(m_pipe, F_SETPIPE_SZ, 4096), 4096);
    }
    ~SlowLog() { ::close(m_pipe); }
    SlowLog(const SlowLog&) = delete;
    SlowLog& operator=(const SlowLog&) = delete;

    /// Its contents.
    std::string read()
    {
        std::string text;
        char buffer[4096];
        for (ssize_t got = 0; (got = ::read(m_pipe, buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<std::size_t>(got));
        return text;
    }
    void fill()
    {
        while (::write(m_pipe, "x", 1) == 1) {
        }
    }

private:
    int m_pipe = -1;
};

// Each copy of the weights that waits for the disk takes memory, so there are at most two.
TEST(SlowDisk, NoMoreThanTwoCheckpointsWaitForIt)
{
    const TestFolder folder;
    const auto path = folder.path() / "log.csv", traced = folder.path() / "run.sstrace";
    SlowLog log(path);
    auto arguments = smallTraining(folder.path(), {"host.async_work=true", "run.steps=60", "run.checkpoint_every=1",
                                                   "run.log_file=" + path.string(),
                                                   "run.checkpoint_path=" + (folder.path() / "states").string()});
    arguments.insert(arguments.end(), {"--trace", traced.string()});
    TrainerRun run(arguments);
    std::string columns;
    for (int tries = 0; tries < 20'000 && columns.empty(); ++tries, std::this_thread::sleep_for(1ms))
        columns = log.read();
    ASSERT_FALSE(columns.empty());
    log.fill();
    // The next line waits now, and checkpoints wait behind it. Without a limit, the training would have ended by the
    // time it is read.
    std::this_thread::sleep_for(1s);
    std::atomic<bool> ended = false;
    std::thread reader([&] {
        while (!ended) {
            static_cast<void>(log.read());
            std::this_thread::sleep_for(1ms);
        }
    });
    const Ended how = run.end();
    ended = true;
    reader.join();
    ASSERT_EQ(how.status, 0) << how.output;

    const auto trace = container::readTrace(traced);
    ASSERT_TRUE(trace) << trace.error().message();
    const TraceView view(*trace);
    std::vector<TraceTime> copied, written;
    for (const Slice& slice : (*trace)->ofKind(ActivityKind::Phase))
        if (view.name(slice) == phase::kCheckpoint)
            (slice.id.track == view.mainTrack() ? copied : written).push_back(slice.begin);
    std::sort(copied.begin(), copied.end());
    std::sort(written.begin(), written.end());
    ASSERT_EQ(copied.size(), 60U);
    ASSERT_EQ(written.size(), 60U);
    for (std::size_t i = 2; i < copied.size(); ++i)
        EXPECT_GE(copied[i], written[i - 2]) << "checkpoint " << i + 1 << " was taken before the one two before it";
}

} // namespace
