#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/operators/op_costs.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/model/trace_builder.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

// Run under TSan: the accesses of the app's threads to one trace, without Qt, whose locks TSan does not know. One
// thread reads the trace and takes snapshots, one analyses the newest snapshot with several threads, and one draws.
namespace {

using namespace profiler;
using namespace profiler::analysis;

/// A step of 100 µs: a wait, a phase, operators on the thread and kernels on a stream.
class GrowingTraining {
public:
    GrowingTraining()
    {
        Track track;
        track.kind = TrackKind::MainThread;
        m_main = m_builder.addTrack(track);
        track.kind = TrackKind::Stream;
        m_stream = m_builder.addTrack(track);
    }
    void addStep()
    {
        const std::int64_t at = m_steps * 100'000;
        add(m_main, ActivityKind::Step, "step", at, 100'000);
        add(m_main, ActivityKind::Phase, "data wait", at, 30'000);
        add(m_main, ActivityKind::Phase, "forward", at + 30'000, 70'000);
        for (std::int64_t op = 0; op < 10; ++op) {
            add(m_main, ActivityKind::CpuOp, "aten::op" + std::to_string(op % 7), at + 30'000 + op * 7'000, 5'000);
            add(m_stream, ActivityKind::Kernel, "kernel " + std::to_string(op % 3), at + 32'000 + op * 6'000, 4'000);
        }
        ++m_steps;
    }
    std::shared_ptr<const Trace> snapshot() { return m_builder.snapshot(); }
    [[nodiscard]] std::int64_t steps() const { return m_steps; }

private:
    void add(TrackId track, ActivityKind kind, std::string_view name, std::int64_t begin, std::int64_t duration)
    {
        Slice slice;
        slice.begin = traceTime(begin);
        slice.duration = Nanoseconds{duration};
        slice.kind = kind;
        slice.name = m_builder.intern(name);
        slice.depth = TraceBuilder::kUnknownDepth;
        m_builder.add(track, slice);
    }

    TraceBuilder m_builder;
    TrackId m_main, m_stream;
    std::int64_t m_steps = 0;
};

/// The newest snapshot. The lock is held only to exchange it.
class Newest {
public:
    void set(std::shared_ptr<const Trace> trace)
    {
        const std::lock_guard lock(m_mutex);
        m_trace = std::move(trace);
    }
    [[nodiscard]] std::shared_ptr<const Trace> get() const
    {
        const std::lock_guard lock(m_mutex);
        return m_trace;
    }

private:
    mutable std::mutex m_mutex;
    std::shared_ptr<const Trace> m_trace = std::make_shared<const Trace>();
};

void expectAnalysed(const Trace& trace, std::int64_t leastSteps)
{
    constexpr unsigned kWalkers = 3;
    const std::vector<Step> steps = findSteps(trace);
    const ActivityScan scan = scanActivity(trace, kWalkers);
    EXPECT_GE(std::ssize(steps), leastSteps);
    EXPECT_EQ(scan.dataWaits.count, std::ssize(steps));
    if (std::ssize(steps) < 10)
        return;
    EXPECT_NEAR(breakdown(trace, scan, steps).share(TimeClass::DataLoader), 0.3, 0.1);
    EXPECT_NEAR(inputWait(trace, steps, {}).waitShare, 0.3, 1e-6);
    EXPECT_TRUE(opCosts(trace, steps).find("aten::op1", "forward"));
}

void draw(const Trace& trace)
{
    std::vector<LodBucket> buckets(64);
    for (const Track& track : trace.tracks())
        for (int depth = 0; depth < trace.depthCount(track.id); ++depth)
            trace.summarize(track.id, depth, trace.range(), buckets);
}

TEST(AnalysisThreads, AGrowingTraceIsAnalysedAndDrawn)
{
    constexpr int kBatches = 12, kStepsOfABatch = 20;
    Newest newest;
    std::atomic<bool> done = false;
    std::atomic<int> analysed = 0, drawn = 0;
    std::thread analyser([&] {
        while (!done) {
            expectAnalysed(*newest.get(), 0);
            ++analysed;
        }
    });
    std::thread painter([&] {
        while (!done) {
            draw(*newest.get());
            ++drawn;
        }
    });
    GrowingTraining training;
    for (int batch = 0; batch < kBatches; ++batch) {
        for (int step = 0; step < kStepsOfABatch; ++step)
            training.addStep();
        newest.set(training.snapshot());
        // Not far ahead of the others, so that they see a growing trace.
        while (analysed < batch || drawn < batch)
            std::this_thread::yield();
    }
    done = true;
    analyser.join();
    painter.join();
    expectAnalysed(*training.snapshot(), training.steps());
}

} // namespace
