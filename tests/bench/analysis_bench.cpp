#include "advisor/rule.h"
#include "profiler/analysis/call_tree/call_views.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/model/trace_builder.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

// All analyses and rules on a trace like those of PyTorch's profiler: operators nested three deep, a launch and a
// kernel for each leaf, copies, and steps marked by ProfilerStep#N.
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::int64_t kOpsPerStep = 4000;

/// Operators and kernels of a training in which many rules fire, because a silent rule returns early.
constexpr const char* kOps[] = {"aten::conv2d",  "aten::batch_norm", "aten::relu",    "aten::matmul",
                                "aten::softmax", "aten::matmul",     "aten::zeros",   "aten::to",
                                "aten::linear",  "aten::isnan",      "aten::dropout", "aten::mul"};
constexpr const char* kKernels[] = {"implicit_convolve_sgemm<float>",
                                    "bn_fw_tr_1C11_kernel_NCHW<float>",
                                    "void at::native::vectorized_elementwise_kernel<4, relu>",
                                    "volta_sgemm_128x64_nn",
                                    "softmax_warp_forward<float>",
                                    "volta_sgemm_128x64_nt",
                                    "void at::native::vectorized_elementwise_kernel<4, fill>",
                                    "void at::native::vectorized_elementwise_kernel<4, copy>",
                                    "volta_sgemm_64x32_tn",
                                    "void at::native::elementwise_kernel<isnan>",
                                    "void at::native::vectorized_elementwise_kernel<4, dropout>",
                                    "ncclKernel_AllReduce_RING_LL_Sum_float"};
constexpr int kLeaves = 480; // a training has hundreds of operators' and kernels' names

struct Names {
    std::uint32_t wait, outer[kLeaves], middle, leaf, launch, kernel[kLeaves], sync, copyCall, copy, optimizer;
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
    n.copyCall = builder.intern("cudaMemcpyAsync").value;
    n.copy = builder.intern("Memcpy DtoH (Device -> Pageable)").value;
    n.optimizer = builder.intern("Optimizer.step#SGD.step").value;
    n.leaf = builder.intern("aten::copy_").value;
    n.middle = builder.intern("aten::addmm").value;
    n.launch = builder.intern("cudaLaunchKernel").value;
    n.sync = builder.intern("cudaStreamSynchronize").value;
    for (std::size_t i = 0; i < kLeaves; ++i) {
        // Every eighth round has its own names.
        const std::string suffix = i / std::size(kOps) % 8 == 0 ? "" : "_" + std::to_string(i);
        n.outer[i] = builder.intern(kOps[i % std::size(kOps)] + suffix).value;
        n.kernel[i] = builder.intern(kKernels[i % std::size(kKernels)] + suffix).value;
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
    SliceArgs reading;
    reading.copy = CopyKind::DtoH;
    reading.bytes = 4;
    const std::uint32_t small = builder.internArgs(reading);
    SliceArgs inputs;
    inputs.shapes = builder.intern("[[32, 64, 56, 56], [64, 64, 3, 3], [64], [], [], [], []]");
    const std::uint32_t shapes = builder.internArgs(inputs);
    for (std::int64_t step = 0; static_cast<std::int64_t>(host.size() + device.size()) < slices; ++step) {
        const std::int64_t begin = time;
        host.push_back(raw(ActivityKind::CpuOp, n.wait, time, 50'000, -1));
        time += 50'000;
        for (std::int64_t i = 0; i < kOpsPerStep; ++i, time += 5000, ++correlation) {
            host.push_back(raw(ActivityKind::CpuOp, n.outer[i % kLeaves], time, 4800, i));
            host.back().args = shapes;
            host.push_back(raw(ActivityKind::CpuOp, n.middle, time + 300, 4300, i));
            host.push_back(raw(ActivityKind::CpuOp, n.leaf, time + 600, 3800, -1));
            host.push_back(raw(ActivityKind::CudaRuntime, n.launch, time + 1200, 2000, correlation));
            device.push_back(
                raw(ActivityKind::Kernel, n.kernel[i % kLeaves], time + 5000, 4000 + i % 800, correlation));
        }
        host.push_back(raw(ActivityKind::CpuOp, n.optimizer, time, 400'000, -1));
        time += 450'000;
        host.push_back(raw(ActivityKind::CudaRuntime, n.copyCall, time, 10'000, correlation));
        device.push_back(raw(ActivityKind::GpuMemcpy, n.copy, time + 5000, 2000, correlation++));
        device.back().args = small;
        host.push_back(raw(ActivityKind::CudaRuntime, n.sync, time + 12'000, 10'000));
        time += 1'500'000;
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
        benchmark::DoNotOptimize(breakdown(trace, activity, found));
        benchmark::DoNotOptimize(deviceUse(trace, activity));
        benchmark::DoNotOptimize(idleCauses(activity));
        benchmark::DoNotOptimize(communication(activity));
        benchmark::DoNotOptimize(inputWait(trace, found, deviceBusy(activity)));
    }
}
BENCHMARK(summary)->Unit(benchmark::kMillisecond);

/// The analyses that rules use, on one core.
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

/// One rule; results that rules share are computed before (except by the first rule that needs them).
void rule(benchmark::State& state)
{
    static const Facts found = analyse(million());
    static const advisor::RuleContext shared{million(), found};
    static const std::vector<advisor::Rule> rules = advisor::allRules();
    const auto index = static_cast<std::size_t>(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(rules[index].check(shared));
    state.SetLabel(std::string(rules[index].key));
}
BENCHMARK(rule)
    ->Apply([](benchmark::internal::Benchmark* each) {
        each->DenseRange(0, static_cast<std::int64_t>(advisor::allRules().size()) - 1);
    })
    ->Unit(benchmark::kMillisecond);

/// The detailed analysis of a complete trace, on one core.
void look(benchmark::State& state)
{
    const std::vector<Step> found = findSteps(million());
    for (auto _ : state)
        benchmark::DoNotOptimize(detailedAnalysis(million(), found));
}
BENCHMARK(look)->Unit(benchmark::kMillisecond);

void launches(benchmark::State& state)
{
    const AnalysedPart part = analysedPart(findSteps(million()));
    for (auto _ : state)
        benchmark::DoNotOptimize(launchStatistics(million(), LaunchCalls(million()), part));
}
BENCHMARK(launches)->Unit(benchmark::kMillisecond);

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

/// The calls of ten million slices: of the whole trace, on all cores.
/// @param state  0: host time, 1: device time; all slices or one step; threads (0: all cores)
void calls(benchmark::State& state)
{
    static const std::shared_ptr<const Trace> trace = makeTrace(10'000'000);
    CallTreeOptions options;
    options.time = state.range(0) == 0 ? CallTime::Host : CallTime::Device;
    options.threads = static_cast<unsigned>(state.range(2));
    if (state.range(1) == 1)
        options.scope = scopeOf(*trace, {findSteps(*trace).at(1)});
    std::size_t nodes = 0;
    for (auto _ : state)
        nodes = callTree(*trace, options).nodes.size();
    state.counters["slices"] = static_cast<double>(trace->sliceCount());
    state.counters["nodes"] = static_cast<double>(nodes);
}
BENCHMARK(calls)->ArgsProduct({{0, 1}, {0, 1}, {1, 0}})->UseRealTime()->Unit(benchmark::kMillisecond);

/// Views of the tree of a million slices.
void callViews(benchmark::State& state)
{
    const CallTree tree = callTree(million(), {});
    for (auto _ : state) {
        benchmark::DoNotOptimize(bottomUp(tree));
        benchmark::DoNotOptimize(sandwich(tree, "aten::copy_"));
        benchmark::DoNotOptimize(difference(tree, tree));
    }
}
BENCHMARK(callViews)->Unit(benchmark::kMillisecond);

} // namespace
