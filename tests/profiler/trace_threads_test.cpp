#include "profiler/model/trace_builder.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// Run under TSan: one thread adds slices and takes snapshots, others run queries.
namespace {

using namespace profiler;

std::size_t askEverything(const Trace& trace)
{
    std::size_t sum = trace.memoryBytes() + (trace.findString("name 3") ? 1 : 0) + trace.metadata().size();
    std::vector<LodBucket> buckets(64);
    for (const Track& track : trace.tracks()) {
        for (int depth = 0; depth < trace.depthCount(track.id); ++depth)
            trace.summarize(track.id, depth, trace.range(), buckets);
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            sum += trace.name(slice).size() + static_cast<std::size_t>(slice.args.bytes);
            return true;
        });
        if (trace.sliceCount(track.id) > 0)
            sum += trace.flowsOf({track.id, 0}).size() + trace.slice({track.id, 0}).name.value;
        sum += trace.counter(track.id).size() + buckets[5].count;
    }
    return sum + trace.ofKind(ActivityKind::CpuOp).size();
}

TEST(TraceThreads, SnapshotsCanBeQueriedWhileTheTraceGrows)
{
    std::mutex mutex; // held only to pass a snapshot
    std::shared_ptr<const Trace> latest = std::make_shared<const Trace>();
    std::atomic<bool> done = false;
    std::atomic<int> asked = 0;
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
        askers.emplace_back([&] {
            while (!done) {
                std::shared_ptr<const Trace> trace;
                {
                    const std::lock_guard lock{mutex};
                    trace = latest;
                }
                asked += askEverything(*trace) > 0 ? 1 : 0;
            }
        });
    }
    TraceBuilder builder;
    const TrackId track = builder.addTrack({});
    for (int i = 0; i < 20'000 || asked < 30; ++i) {
        Slice slice;
        slice.begin = traceTime(i * 10);
        slice.duration = Nanoseconds{8};
        slice.kind = ActivityKind::CpuOp;
        slice.sequence = i / 2;
        slice.name = builder.intern("name " + std::to_string(i % 700));
        slice.args.bytes = i % 900;
        slice.depth = i % 5 == 0 ? TraceBuilder::kUnknownDepth : std::uint8_t{0};
        builder.add(track, slice);
        builder.addSample(track, {slice.begin, 1.0});
        if (i % 200 == 0) {
            auto trace = builder.snapshot();
            const std::lock_guard lock{mutex};
            latest = std::move(trace);
        }
    }
    done = true;
    for (auto& asker : askers)
        asker.join();
    EXPECT_GT(askEverything(*builder.finish()), 0U);
}

} // namespace
