#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/name_search.h"
#include "profiler/model/trace_builder.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

// Times that a user waits for: opening, writing and searching our own trace files.
namespace {

using namespace profiler;

constexpr int kNames = 200;

/// Eight threads of nested ops and runtime calls, as an importer delivers them.
std::shared_ptr<const Trace> threads(std::int64_t slices)
{
    constexpr std::int64_t kThreads = 8;
    std::minstd_rand random;
    TraceBuilder builder;
    for (int i = 0; i < kNames; ++i)
        builder.intern("aten::op_" + std::to_string(i));
    for (std::int64_t thread = 0; thread < kThreads; ++thread) {
        std::vector<RawSlice> made;
        for (std::int64_t i = 0; i < slices / kThreads; ++i) {
            RawSlice slice;
            const std::int64_t turn = i % 8;
            slice.begin = i / 8 * 9000 + turn * 1100 + static_cast<std::int64_t>(random() % 50);
            slice.duration = turn == 0 ? 8900 : 20 + static_cast<std::int64_t>(random() % 900);
            slice.kind = turn == 3 ? ActivityKind::CudaRuntime : ActivityKind::CpuOp;
            slice.link = turn == 3 ? i * kThreads + thread + 1 : i / 8;
            slice.name = 1 + static_cast<std::uint32_t>(random() % kNames);
            slice.external = static_cast<std::uint32_t>(i);
            made.push_back(slice);
        }
        builder.addMany(builder.addTrack({}), std::move(made), Depth::Inferred);
    }
    return builder.finish(2);
}

const std::shared_ptr<const Trace>& traceOf(std::int64_t slices)
{
    static std::map<std::int64_t, std::shared_ptr<const Trace>> made;
    auto& trace = made[slices];
    if (!trace)
        trace = threads(slices);
    return trace;
}

std::vector<TrackId> allTracks(const Trace& trace)
{
    std::vector<TrackId> tracks;
    for (const Track& track : trace.tracks())
        tracks.push_back(track.id);
    return tracks;
}

std::filesystem::path packedPath(std::int64_t slices)
{
    return std::filesystem::temp_directory_path() /
           ("trace_bench." + std::to_string(getpid()) + "." + std::to_string(slices) + ".sspack");
}

void packedWrite(benchmark::State& state)
{
    const auto path = packedPath(state.range(0));
    const auto& trace = traceOf(state.range(0));
    for (auto _ : state) {
        if (!container::writeTrace(*trace, path))
            state.SkipWithError("not written");
    }
    std::error_code none;
    state.counters["bytes/slice"] =
        static_cast<double>(std::filesystem::file_size(path, none)) / static_cast<double>(state.range(0));
    state.counters["memory/slice"] = static_cast<double>(trace->memoryBytes()) / static_cast<double>(state.range(0));
}
BENCHMARK(packedWrite)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

/// After packedWrite: the page cache is warm.
void packedRead(benchmark::State& state)
{
    const auto path = packedPath(state.range(0));
    double firstMs = 0;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        container::ReadOptions options;
        options.preview = [&](const std::shared_ptr<const Trace>& trace) {
            // On screen: every lane is summarized for 1600 pixels.
            std::vector<LodBucket> buckets(1600);
            for (const Track& track : trace->tracks()) {
                for (int depth = 0; depth < trace->depthCount(track.id); ++depth)
                    trace->summarize(track.id, depth, trace->range(), buckets);
            }
            firstMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        };
        const auto trace = container::readTrace(path, options);
        if (!trace || (*trace)->sliceCount() != static_cast<std::size_t>(state.range(0)))
            state.SkipWithError("not read");
    }
    state.counters["first view ms"] = firstMs;
    std::error_code none;
    std::filesystem::remove(path, none);
}
BENCHMARK(packedRead)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

void searchFirst(benchmark::State& state)
{
    const auto& trace = traceOf(10'000'000);
    const auto tracks = allTracks(*trace);
    for (auto _ : state) {
        const auto search = NameSearch::make(trace, {"op_77$", true});
        benchmark::DoNotOptimize(search->next(tracks, trace->range().begin));
    }
}
BENCHMARK(searchFirst)->Unit(benchmark::kMillisecond);

void searchNothing(benchmark::State& state)
{
    const auto& trace = traceOf(10'000'000);
    const auto tracks = allTracks(*trace);
    for (auto _ : state) {
        const auto search = NameSearch::make(trace, {"no such name"});
        benchmark::DoNotOptimize(search->next(tracks, trace->range().begin));
    }
}
BENCHMARK(searchNothing)->Unit(benchmark::kMillisecond);

void searchCount(benchmark::State& state)
{
    const auto& trace = traceOf(10'000'000);
    const auto tracks = allTracks(*trace);
    std::vector<std::uint32_t> marks(1600);
    for (auto _ : state) {
        const auto search = NameSearch::make(trace, {"op_1"});
        benchmark::DoNotOptimize(search->count(tracks));
        search->marks(tracks, trace->range(), marks);
    }
}
BENCHMARK(searchCount)->Unit(benchmark::kMillisecond);

std::filesystem::path writeFile(std::int64_t slices)
{
    using namespace profiler::container;
    const auto path = std::filesystem::temp_directory_path() / ("trace_bench." + std::to_string(getpid()) + ".sstrace");
    auto writer = FrameWriter::create(path, 1);
    if (!writer)
        return {};
    Payload payload;
    for (std::uint32_t i = 0; i < kNames; ++i)
        appendString(payload, i, "aten::op_" + std::to_string(i));
    static_cast<void>((*writer)->write(FrameType::Strings, payload));
    constexpr std::int64_t kBatch = 4000;
    std::vector<EventRecord> records(kBatch);
    for (std::int64_t first = 0; first < slices; first += kBatch) {
        for (std::int64_t i = 0; i < kBatch; ++i) {
            EventRecord& record = records[static_cast<std::size_t>(i)];
            record = {};
            record.kind = ActivityKind::CpuOp;
            record.name = static_cast<std::uint32_t>((first + i) % kNames);
            record.begin = (first + i) * 100;
            record.end = record.begin + 80;
            record.link = first + i;
        }
        payload.clear();
        appendEvents(payload, {0, 0, static_cast<std::uint64_t>(first)}, records);
        static_cast<void>((*writer)->write(FrameType::Events, payload));
    }
    static_cast<void>((*writer)->write(FrameType::End, {}));
    return path;
}

void readFile(benchmark::State& state)
{
    const auto path = writeFile(state.range(0));
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    for (auto _ : state) {
        const auto trace = container::readTrace(path);
        if (!trace || (*trace)->sliceCount() != static_cast<std::size_t>(state.range(0)))
            state.SkipWithError("the file was not read");
    }
    std::filesystem::remove(path, error);
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(readFile)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

} // namespace
