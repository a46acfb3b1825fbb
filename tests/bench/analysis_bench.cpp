#include "advisor/rule.h"
#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/device_use.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/replay.h"
#include "profiler/model/trace_builder.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

// All analyses over a trace as PyTorch's profiler leaves it: operators three deep, a launch and a kernel for each leaf,
// copies, steps marked by ProfilerStep#N.
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::int64_t kOpsPerStep = 4000;

struct Names {
    std::uint32_t wait, outer, middle, leaf[40], launch, kernel[40], sync;
};

RawSlice raw(ActivityKind kind, std::uint32_t name, std::int64_t begin, std::int64_t duration, std::int64_t link = 0)
{
    RawSlice slice;
    slice.kind = kind;
    slice.name = name;
    slice.begin = begin;
    slice.duration = duration;
    slice.link = link;
    return slice;
}

Names names(TraceBuilder& builder)
{
    Names n{};
    n.wait = builder.intern("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__").value;
    n.outer = builder.intern("aten::linear").value;
    n.middle = builder.intern("aten::addmm").value;
    n.launch = builder.intern("cudaLaunchKernel").value;
    n.sync = builder.intern("cudaStreamSynchronize").value;
    for (int i = 0; i < 40; ++i) {
        n.leaf[i] = builder.intern("aten::op_" + std::to_string(i)).value;
        n.kernel[i] = builder.intern("void at::native::vectorized_elementwise_kernel<" + std::to_string(i) + ">").value;
    }
    return n;
}

std::shared_ptr<const Trace> makeTrace(std::int64_t slices)
{
    TraceBuilder builder;
    const Names n = names(builder);
    Track main, stream;
    main.kind = TrackKind::MainThread;
    stream.kind = TrackKind::Stream;
    const TrackId mainId = builder.addTrack(main), streamId = builder.addTrack(stream);
    std::vector<RawSlice> host, device;
    std::int64_t time = 0, correlation = 1;
    for (std::int64_t step = 0; static_cast<std::int64_t>(host.size() + device.size()) < slices; ++step) {
        const std::int64_t begin = time;
        host.push_back(raw(ActivityKind::CpuOp, n.wait, time, 50'000, -1));
        time += 50'000;
        for (std::int64_t i = 0; i < kOpsPerStep; ++i, time += 5000, ++correlation) {
            host.push_back(raw(ActivityKind::CpuOp, n.outer, time, 4800, i));
            host.push_back(raw(ActivityKind::CpuOp, n.middle, time + 300, 4300, i));
            host.push_back(raw(ActivityKind::CpuOp, n.leaf[i % 40], time + 600, 3800, -1));
            host.push_back(raw(ActivityKind::CudaRuntime, n.launch, time + 1200, 2000, correlation));
            device.push_back(raw(ActivityKind::Kernel, n.kernel[i % 40], time + 5000, 4000 + i % 800, correlation));
        }
        host.push_back(raw(ActivityKind::CudaRuntime, n.sync, time, 10'000));
        time += 12'000;
        const std::uint32_t mark = builder.intern("ProfilerStep#" + std::to_string(step)).value;
        host.push_back(raw(ActivityKind::UserAnnotation, mark, begin, time - begin));
    }
    builder.addMany(mainId, std::move(host), Depth::Inferred);
    builder.addMany(streamId, std::move(device), Depth::Inferred);
    builder.setFormat("pytorch-json");
    return builder.finish();
}

const Trace& million()
{
    static const std::shared_ptr<const Trace> trace = makeTrace(1'000'000);
    return *trace;
}

void scan(benchmark::State& state)
{
    const Trace& trace = million();
    for (auto _ : state)
        benchmark::DoNotOptimize(scanActivity(trace, static_cast<unsigned>(state.range(0))));
    state.counters["slices"] = static_cast<double>(trace.sliceCount());
}
BENCHMARK(scan)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

void steps(benchmark::State& state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(findSteps(million()));
}
BENCHMARK(steps)->Unit(benchmark::kMillisecond);

/// What `summarize` computes, on one core.
void summary(benchmark::State& state)
{
    const Trace& trace = million();
    for (auto _ : state) {
        const ActivityScan activity = scanActivity(trace);
        const std::vector<Step> found = findSteps(trace);
        benchmark::DoNotOptimize(breakdown(activity, found));
        benchmark::DoNotOptimize(deviceUse(trace, activity));
        benchmark::DoNotOptimize(idleCauses(activity));
        benchmark::DoNotOptimize(communication(activity));
        benchmark::DoNotOptimize(inputWait(trace, found));
    }
}
BENCHMARK(summary)->Unit(benchmark::kMillisecond);

/// What the rules ask for, on one core.
void facts(benchmark::State& state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(analyse(million()));
}
BENCHMARK(facts)->Unit(benchmark::kMillisecond);

/// All analyses and all rules, on one core.
void advice(benchmark::State& state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(advisor::advise(million(), nullptr));
}
BENCHMARK(advice)->Unit(benchmark::kMillisecond);

void replayGraph(benchmark::State& state)
{
    const std::vector<Step> found = findSteps(million());
    for (auto _ : state)
        benchmark::DoNotOptimize(ReplayGraph::of(million(), found));
}
BENCHMARK(replayGraph)->Unit(benchmark::kMillisecond);

void replay(benchmark::State& state)
{
    const ReplayGraph graph = ReplayGraph::of(million(), findSteps(million()));
    for (auto _ : state)
        benchmark::DoNotOptimize(graph.replay([](const ReplayWork& work) {
            return ReplayChange{.factor = work.where == ReplayWork::Where::Host ? 0.5 : 1};
        }));
}
BENCHMARK(replay)->Unit(benchmark::kMillisecond);

} // namespace
