#include "profiler/model/trace_builder.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

// The trace at sizes from ten thousand to ten million slices: the cost of building, reading and drawing it.
namespace {

using namespace profiler;

constexpr int kNames = 200;
constexpr int kInnerOps = 9;

/// Scopes in the order of a training thread: nine inner ops, then the outer op that contains them.
class Scopes {
public:
    explicit Scopes(TraceBuilder& builder) : m_builder(builder)
    {
        Track track;
        track.name = "main thread";
        m_track = builder.addTrack(track);
        for (int i = 0; i < kNames; ++i)
            m_names.push_back(builder.intern("aten::op_" + std::to_string(i)));
    }
    void add(std::int64_t count)
    {
        for (std::int64_t i = 0; i < count; ++i)
            addOne();
    }
    [[nodiscard]] TrackId track() const { return m_track; }

private:
    void addOne()
    {
        const std::int64_t turn = m_added % (kInnerOps + 1);
        const std::int64_t base = m_added / (kInnerOps + 1) * 1000;
        Slice slice;
        slice.kind = ActivityKind::CpuOp;
        slice.name = m_names[m_random() % kNames];
        slice.sequence = turn == 0 ? m_added : -1;
        slice.depth = turn == kInnerOps ? 0 : 1;
        slice.begin = traceTime(turn == kInnerOps ? base : base + turn * 100 + 10);
        slice.duration = Nanoseconds{turn == kInnerOps ? 990 : 20 + static_cast<std::int64_t>(m_random() % 70)};
        m_builder.add(m_track, slice);
        ++m_added;
    }

    TraceBuilder& m_builder;
    TrackId m_track;
    std::vector<StringId> m_names;
    std::minstd_rand m_random;
    std::int64_t m_added = 0;
};

const Trace& traceOf(std::int64_t slices)
{
    static std::map<std::int64_t, std::shared_ptr<const Trace>> made;
    auto& trace = made[slices];
    if (!trace) {
        TraceBuilder builder;
        Scopes{builder}.add(slices);
        trace = builder.finish();
    }
    return *trace;
}

void build(benchmark::State& state)
{
    for (auto _ : state) {
        TraceBuilder builder;
        Scopes{builder}.add(state.range(0));
        const auto trace = builder.finish();
        state.counters["bytes/slice"] = static_cast<double>(trace->memoryBytes()) / static_cast<double>(state.range(0));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// A live trace: a snapshot after every thousand slices.
void buildLive(benchmark::State& state)
{
    std::chrono::nanoseconds longest{};
    for (auto _ : state) {
        TraceBuilder builder;
        Scopes scopes{builder};
        for (std::int64_t i = 0; i < state.range(0); i += 1000) {
            scopes.add(1000);
            const auto begin = std::chrono::steady_clock::now();
            benchmark::DoNotOptimize(builder.snapshot());
            longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - begin);
        }
    }
    state.counters["longest snapshot ms"] = static_cast<double>(longest.count()) / 1e6;
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(buildLive)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// A frame of a zoomed-out view: 1600 pixels of two depths.
void summarizeAll(benchmark::State& state)
{
    const Trace& trace = traceOf(state.range(0));
    std::vector<LodBucket> buckets(1600);
    for (auto _ : state) {
        for (int depth = 0; depth < 2; ++depth)
            trace.summarize(TrackId{0}, depth, trace.range(), buckets);
        benchmark::DoNotOptimize(buckets.data());
    }
}
BENCHMARK(summarizeAll)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMicrosecond);

/// The same for the middle hundredth of the time.
void summarizePart(benchmark::State& state)
{
    const Trace& trace = traceOf(state.range(0));
    const auto part = trace.range().duration() / 100;
    const TimeRange window{trace.range().begin + part * 50, trace.range().begin + part * 51};
    std::vector<LodBucket> buckets(1600);
    for (auto _ : state) {
        for (int depth = 0; depth < 2; ++depth)
            trace.summarize(TrackId{0}, depth, window, buckets);
        benchmark::DoNotOptimize(buckets.data());
    }
}
BENCHMARK(summarizePart)->Arg(10'000)->Arg(10'000'000)->Unit(benchmark::kMicrosecond);

/// One million slices of twenty tracks as an importer delivers them, sealed only by finish().
/// @param state  threads; percentage of slices that are out of order
void buildBulk(benchmark::State& state)
{
    constexpr std::int64_t kSlices = 1'000'000;
    constexpr std::int64_t kTracks = 20;
    std::minstd_rand random;
    std::vector<std::vector<RawSlice>> made(kTracks);
    for (std::int64_t i = 0; i < kSlices; ++i) {
        RawSlice slice;
        const std::int64_t turn = i / kTracks % (kInnerOps + 1);
        slice.begin = i / kTracks / (kInnerOps + 1) * 10'000 + turn * 900;
        slice.duration = turn == 0 ? 9990 : 20 + static_cast<std::int64_t>(random() % 700);
        slice.kind = i % 3 == 0 ? ActivityKind::CudaRuntime : ActivityKind::CpuOp;
        slice.link = i;
        slice.name = 1 + static_cast<std::uint32_t>(random() % kNames);
        slice.external = static_cast<std::uint32_t>(i);
        slice.setSource(static_cast<std::uint64_t>(i) * 280);
        made[static_cast<std::size_t>(i % kTracks)].push_back(slice);
    }
    for (auto& slices : made) {
        for (std::size_t i = 0; i < slices.size() * static_cast<std::size_t>(state.range(1)) / 100; ++i)
            std::swap(slices[random() % slices.size()], slices[random() % slices.size()]);
    }
    std::size_t bytes = 0;
    for (auto _ : state) {
        state.PauseTiming();
        TraceBuilder builder;
        for (int i = 0; i < kNames; ++i)
            builder.intern("aten::op_" + std::to_string(i));
        for (const auto& slices : made)
            builder.addMany(builder.addTrack({}), std::vector<RawSlice>{slices}, Depth::Inferred);
        state.ResumeTiming();
        const auto trace = builder.finish(static_cast<unsigned>(state.range(0)));
        bytes = trace->memoryBytes();
    }
    state.SetItemsProcessed(state.iterations() * kSlices);
    state.counters["bytes/slice"] = static_cast<double>(bytes) / kSlices;
}
BENCHMARK(buildBulk)
    ->ArgNames({"threads", "shuffled"})
    ->ArgsProduct({{1, 2}, {0, 5, 300}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void visitEverySlice(benchmark::State& state)
{
    const Trace& trace = traceOf(1'000'000);
    for (auto _ : state) {
        std::int64_t sum = 0;
        trace.forEach(TrackId{0}, trace.range(), [&](const Slice& slice) {
            sum += slice.duration.count();
            return true;
        });
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(visitEverySlice)->Unit(benchmark::kMillisecond);

void findFlows(benchmark::State& state)
{
    const Trace& trace = traceOf(10'000'000);
    std::uint32_t ordinal = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(trace.flowsOf({TrackId{0}, ordinal}));
        ordinal = (ordinal + 7'919 * (kInnerOps + 1)) % 10'000'000;
    }
}
BENCHMARK(findFlows);

} // namespace
