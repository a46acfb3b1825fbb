#include "profiler/model/trace_builder.h"
#include "profiler/query/query.h"

#include <benchmark/benchmark.h>
#include <random>
#include <string>
#include <vector>

// SQL over ten million slices: operators on a thread, and the kernels that they launch on two streams. Target: grouping
// by name takes at most two seconds.
namespace {

using namespace profiler;

constexpr std::int64_t kSlices = 10'000'000;

std::vector<std::uint32_t> names(TraceBuilder& builder, const std::string& prefix, int count)
{
    std::vector<std::uint32_t> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(
            builder.intern(prefix + std::to_string(i) + ">(int, at::native::Functor, at::detail::Array)").value);
    return ids;
}

query::Source makeSource()
{
    TraceBuilder builder;
    const auto addTrack = [&](TrackKind kind, const char* name) {
        Track track;
        track.kind = kind;
        track.name = name;
        return builder.addTrack(track);
    };
    const TrackId tracks[] = {addTrack(TrackKind::MainThread, "main thread"), addTrack(TrackKind::Stream, "stream 7"),
                              addTrack(TrackKind::Stream, "stream 20")};
    const auto ops = names(builder, "aten::operator_", 200);
    const auto kernels = names(builder, "void at::native::vectorized_elementwise_kernel<4, ", 400);
    std::minstd_rand random;
    for (std::size_t track = 0; track < 3; ++track) {
        std::vector<RawSlice> slices(static_cast<std::size_t>(track == 0 ? kSlices / 2 : kSlices / 4));
        std::int64_t time = 0;
        for (RawSlice& slice : slices) {
            slice.begin = time;
            slice.duration = static_cast<std::int64_t>(random() % 900);
            slice.kind = track == 0 ? ActivityKind::CpuOp : ActivityKind::Kernel;
            slice.link = track == 0 ? -1 : 0;
            slice.name = track == 0 ? ops[random() % ops.size()] : kernels[random() % kernels.size()];
            time += 1000;
        }
        builder.addMany(tracks[track], std::move(slices), Depth::Given);
    }
    query::Source source{builder.finish(2)};
    for (std::int64_t i = 0; i < 1000; ++i) {
        analysis::Step step;
        step.index = i;
        step.range = {traceTime(i * 5'000'000), traceTime((i + 1) * 5'000'000)};
        source.steps.push_back(step);
    }
    return source;
}

void run(benchmark::State& state, const char* sql)
{
    static const query::Source source = makeSource();
    std::size_t rows = 0;
    for (auto _ : state) {
        const auto result = query::runQuery(source, sql);
        if (!result)
            return state.SkipWithError(result.error().message().c_str());
        rows = result->rows;
    }
    state.counters["rows"] = static_cast<double>(rows);
}

BENCHMARK_CAPTURE(run, groupByName, "SELECT name, SUM(dur), COUNT(*) FROM slice GROUP BY name ORDER BY 2 DESC")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, sumAll, "SELECT SUM(dur) FROM slice")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, longestKernels, "SELECT id, name, dur FROM kernel ORDER BY dur DESC LIMIT 50")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, oneName, "SELECT COUNT(*), SUM(dur) FROM slice WHERE name LIKE '%operator_17>%'")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, kernelsByStep, "SELECT step, SUM(dur) FROM kernel GROUP BY step")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, oneStep, "SELECT name, SUM(dur) FROM kernel WHERE step = 500 GROUP BY name")
    ->Unit(benchmark::kMillisecond);

} // namespace
