#include "tests/capture/killed_recording.h"

#include "profiler/capture/recorder.h"
#include "profiler/formats/container/ring_file.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;

namespace {

void recordThread(Recorder& recorder, int thread, Progress& progress)
{
    ThreadBuffer& buffer = recorder.nameThisThread("thread " + std::to_string(thread), TrackKind::Thread);
    for (std::int64_t i = 0;; ++i) {
        // New names now and then: no record may exist without its name.
        buffer.push(ActivityKind::CpuOp, buffer.intern("op " + std::to_string(i / 100)), i);
        buffer.pop();
        progress.recorded[thread].store(i + 1, std::memory_order_release);
        if (i == 0 && thread == 0) {
            while (progress.recorded[1] == 0 || progress.firstGpuNs == 0)
                std::this_thread::sleep_for(1ms);
            progress.ready = true;
        }
        if (i % 64 == 0)
            std::this_thread::sleep_for(200us);
    }
}

/// Device work as CUPTI delivers it: in batches that bypass the rings.
void recordGpu(Recorder& recorder, Progress& progress)
{
    const std::uint32_t name = recorder.intern("kernel");
    for (;;) {
        const std::int64_t now = toNs(TraceClock::now());
        container::EventRecord records[2]{};
        records[0].type = container::EventType::Device;
        records[0].kind = ActivityKind::Kernel;
        records[0].name = name;
        records[0].begin = now - 1000;
        records[0].end = now;
        records[1].type = container::EventType::Extra;
        recorder.addBatch(recorder.streamTrack(DeviceId{0}, StreamId{7}), records);
        progress.gpuNs.store(now, std::memory_order_release);
        std::int64_t none = 0;
        progress.firstGpuNs.compare_exchange_strong(none, now);
        std::this_thread::sleep_for(1ms);
    }
}

/// Adds the losses of one killed child.
void judge(const ParsedTrace& trace, const Progress& progress, KillLosses& losses)
{
    for (int thread = 0; thread < kKilledThreads; ++thread) {
        std::int64_t next = 0;
        for (const ParsedTrace::Event& event : trace.of("thread " + std::to_string(thread))) {
            if (event.record.link != next || trace.name(event) != "op " + std::to_string(next / 100))
                losses.problem = "thread " + std::to_string(thread) + ": event " + std::to_string(next) + " is " +
                                 trace.name(event) + ", number " + std::to_string(event.record.link);
            ++next;
        }
        const std::int64_t sure = progress.recorded[thread].load();
        losses.hostEvents += static_cast<std::uint64_t>(sure);
        losses.hostLost += static_cast<std::uint64_t>(std::max<std::int64_t>(0, sure - next));
    }
    std::int64_t last = progress.firstGpuNs.load();
    for (const ParsedTrace::Event& event : trace.events)
        if (event.record.type == container::EventType::Device)
            last = std::max(last, event.record.end);
    losses.gpuLost.emplace_back(std::max<std::int64_t>(0, progress.gpuNs.load() - last));
}

} // namespace

Progress* sharedProgress()
{
    void* page = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (page) Progress{};
}

void recordUntilKilled(const std::filesystem::path& path, Progress& progress)
{
    auto recorder = Recorder::start({.path = path, .drainEvery = 7ms});
    if (!recorder)
        _exit(1);
    std::thread second([&] { recordThread(**recorder, 1, progress); });
    std::thread gpu([&] { recordGpu(**recorder, progress); });
    recordThread(**recorder, 0, progress);
    _exit(0);
}

KillLosses killAtRandomMoments(int rounds, unsigned seed)
{
    std::mt19937 random(seed);
    KillLosses losses;
    for (int round = 0; round < rounds && losses.problem.empty(); ++round) {
        const test_support::TemporaryFolder folder;
        const auto path = folder / "a.sstrace";
        Progress* const progress = sharedProgress();
        const pid_t child = fork();
        if (child == 0)
            recordUntilKilled(path, *progress);
        while (!progress->ready)
            std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 400'000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);

        ParsedTrace trace = parseTrace(path);
        const std::size_t before = trace.events.size();
        const auto left = container::recoverRing(path, trace.runId);
        if (!WIFSIGNALED(status) || trace.ended || !left || left->damaged != 0 || left->dropped != 0) {
            losses.problem = left ? "the child or its ring is not as it should be" : left.error().message();
        } else {
            trace.add(*left);
            losses.fromRing += trace.events.size() - before;
            if (!trace.problems.empty())
                losses.problem = trace.problems.front();
            judge(trace, *progress, losses);
            ++losses.opened;
        }
        munmap(progress, sizeof(Progress));
    }
    return losses;
}

} // namespace capture_test
