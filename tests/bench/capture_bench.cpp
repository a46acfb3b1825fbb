#include "profiler/capture/recorder.h"
#include "profiler/capture/thread_buffer_impl.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace profiler;
using namespace profiler::capture;

namespace {

/// A recorder whose writer thread does not run during the measurement unless flush() is called. Events that do not fit
/// are dropped, which is cheaper than a record, so a benchmark flushes before its ring is full, outside of the timing.
class Recording {
public:
    explicit Recording(std::size_t ringEvents = 1 << 16)
        : m_path(std::filesystem::temp_directory_path() / ("capture_bench." + std::to_string(getpid()) + ".sstrace")),
          m_room(ringEvents)
    {
        auto started = Recorder::start({.path = m_path, .ringEvents = ringEvents, .drainEvery = std::chrono::hours(1)});
        if (!started)
            return;
        m_recorder = std::move(*started);
        // The second clock adjustment: from here on, reading the time reads the counter, as in any recording.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        static_cast<void>(m_recorder->flush());
        m_lane = &m_recorder->nameThisThread("bench", TrackKind::MainThread);
    }
    ~Recording()
    {
        m_recorder.reset();
        std::filesystem::remove(m_path);
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    [[nodiscard]] bool works() const { return m_recorder != nullptr; }
    Recorder& recorder() { return *m_recorder; }
    ThreadBuffer& lane() { return *m_lane; }
    /// Makes room for this many records.
    void reserve(benchmark::State& state, std::size_t records)
    {
        m_used += records;
        if (m_used < m_room)
            return;
        state.PauseTiming();
        static_cast<void>(m_recorder->flush());
        m_used = records;
        state.ResumeTiming();
    }

private:
    std::filesystem::path m_path;
    std::size_t m_room, m_used = 0;
    std::unique_ptr<Recorder> m_recorder;
    ThreadBuffer* m_lane = nullptr;
};

/// Real operator names, so that hashing and comparing cost the same as in a training.
const std::vector<std::string>& operators()
{
    static const std::vector<std::string> names = {"aten::convolution",   "aten::batch_norm",    "aten::relu",
                                                   "aten::max_pool2d",    "aten::add_",          "aten::linear",
                                                   "aten::cross_entropy", "ConvolutionBackward0"};
    return names;
}

void clockRead(benchmark::State& state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(TraceClock::now());
}
BENCHMARK(clockRead);

void twoCounterReads(benchmark::State& state)
{
    for (auto _ : state) {
        benchmark::DoNotOptimize(timeStampCounter());
        benchmark::DoNotOptimize(timeStampCounter());
    }
}
BENCHMARK(twoCounterReads);

void pushPop(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    const std::uint32_t name = recording.lane().intern("aten::add");
    for (auto _ : state) {
        recording.lane().push(ActivityKind::CpuOp, name, 1);
        recording.lane().pop();
        recording.reserve(state, 1);
    }
}
BENCHMARK(pushPop);

/// The inlined fast path, for callers with the most ranges.
void pushPopInlined(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    const std::uint32_t name = recording.lane().intern("aten::add");
    ThreadBuffer& lane = recording.lane();
    for (auto _ : state) {
        if (!lane.inlined().tryPush(timeStampCounter(), ActivityKind::CpuOp, name, 1, 0))
            lane.push(ActivityKind::CpuOp, name, 1);
        if (!lane.inlined().tryPop(timeStampCounter()))
            lane.pop();
        recording.reserve(state, 1);
    }
}
BENCHMARK(pushPopInlined);

void openClose(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    const std::uint32_t name = recording.lane().intern("forward");
    for (auto _ : state) {
        recording.lane().open(ActivityKind::Phase, name);
        recording.lane().close();
        recording.reserve(state, 2);
    }
}
BENCHMARK(openClose);

void internHit(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    std::size_t next = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(recording.lane().intern(operators()[next++ % operators().size()]));
}
BENCHMARK(internHit);

/// What the op hook does for an operator.
void internPushPop(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    std::size_t next = 0;
    for (auto _ : state) {
        ThreadBuffer& lane = recording.lane();
        lane.push(ActivityKind::CpuOp, lane.intern(operators()[next++ % operators().size()]), 1);
        lane.pop();
        recording.reserve(state, 1);
    }
}
BENCHMARK(internPushPop);

void laneOfThisThread(benchmark::State& state)
{
    Recording recording;
    if (!recording.works())
        return state.SkipWithError("no recorder");
    for (auto _ : state)
        benchmark::DoNotOptimize(&recording.recorder().thisThread());
}
BENCHMARK(laneOfThisThread);

/// From the ring to the file, including the checksum and the write.
void drain(benchmark::State& state)
{
    constexpr std::int64_t kEvents = 60'000;
    Recording recording(1 << 16);
    if (!recording.works())
        return state.SkipWithError("no recorder");
    for (auto _ : state) {
        state.PauseTiming();
        for (std::int64_t i = 0; i < kEvents; ++i)
            recording.lane().complete(ActivityKind::CpuOp, 1, traceTime(i), traceTime(i + 1), i);
        state.ResumeTiming();
        if (!recording.recorder().flush())
            return state.SkipWithError("the trace cannot be written");
    }
    state.SetItemsProcessed(state.iterations() * kEvents);
    state.SetBytesProcessed(state.iterations() * kEvents * static_cast<std::int64_t>(sizeof(container::EventRecord)));
}
BENCHMARK(drain)->Iterations(50)->Unit(benchmark::kMillisecond);

} // namespace
