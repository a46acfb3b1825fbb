// Tables of the app over large traces, and the command palette over their names. Budgets: another order of a million
// rows in 100 ms; the palette between two keys, 50 ms.
#include "app/tables/table_query.h"
#include "app/tables/table_view.h"
#include "app/window/command_palette.h"
#include "profiler/model/trace_builder.h"

#include <benchmark/benchmark.h>

#include <map>
#include <random>
#include <string>

using namespace profiler;

namespace {

constexpr int kNames = 400;
constexpr int kStreams = 8;

/// Back-to-back kernels with several hundred names on several streams, as in a long training.
std::shared_ptr<const Trace> makeKernels(std::size_t count)
{
    std::mt19937_64 random(7);
    TraceBuilder builder;
    std::vector<std::uint32_t> names;
    for (int i = 0; i < kNames; ++i)
        names.push_back(builder.intern("void kernel_" + std::to_string(i) + "<float, 128>(float*, int)").value);
    for (int stream = 0; stream < kStreams; ++stream) {
        Track track;
        track.kind = TrackKind::Stream;
        track.name = "stream " + std::to_string(stream);
        const TrackId id = builder.addTrack(track);
        std::vector<RawSlice> slices(count / kStreams);
        std::int64_t at = 0;
        for (RawSlice& slice : slices) {
            slice.begin = at;
            slice.duration = static_cast<std::int64_t>(1000 + random() % 100'000);
            slice.kind = ActivityKind::Kernel;
            slice.name = names[random() % names.size()];
            at += slice.duration + 500;
        }
        builder.addMany(id, std::move(slices), Depth::Inferred);
    }
    return builder.finish(2);
}

const std::shared_ptr<const Trace>& kernels(std::int64_t count)
{
    static std::map<std::int64_t, std::shared_ptr<const Trace>> made;
    auto& trace = made[count];
    if (!trace)
        trace = makeKernels(static_cast<std::size_t>(count));
    return trace;
}

std::shared_ptr<const app::TableRows> query(std::int64_t count, const app::TableGrouping& grouping,
                                            const char* filter = "")
{
    const app::TableSubject subject = app::kernelSubject();
    app::TableQuery asked;
    asked.grouping = grouping;
    asked.steps = std::make_shared<const app::Steps>();
    asked.filter.conditions = *app::parseFilter(filter, filterFieldsOf(subject, grouping));
    return runQuery(kernels(count), subject, asked);
}

app::SortKey by(app::Field field, bool descending = false)
{
    return {static_cast<int>(field), descending};
}

void sortsRows(benchmark::State& state, const app::TableOrder& order)
{
    const auto rows = query(state.range(0), {});
    for ([[maybe_unused]] const auto _ : state)
        benchmark::DoNotOptimize(rows->sorted(order));
}

void lists(benchmark::State& state, const char* filter)
{
    for ([[maybe_unused]] const auto _ : state)
        benchmark::DoNotOptimize(query(state.range(0), {}, filter));
}

void groups(benchmark::State& state, const app::TableGrouping& grouping)
{
    for ([[maybe_unused]] const auto _ : state)
        benchmark::DoNotOptimize(query(state.range(0), grouping));
}

/// As many rows as a screen shows, from the middle.
void formatsAScreen(benchmark::State& state)
{
    app::TableModel model;
    model.setRows(query(state.range(0), {}));
    for ([[maybe_unused]] const auto _ : state)
        for (int row = 0; row < 50; ++row)
            for (int column = 0; column < model.columnCount(); ++column)
                benchmark::DoNotOptimize(model.index(model.rowCount() / 2 + row, column).data());
}

using app::Field;
constexpr int kMillion = 1'000'000;

/// What one key costs in the command palette, with `range` names of kernels.
void filtersThePalette(benchmark::State& state)
{
    std::vector<app::PaletteEntry> entries;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        app::PaletteEntry& entry = entries.emplace_back();
        entry.title = QString("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add%1>(int, "
                              "at::native::CUDAFunctor, std::array<char*, 3>)")
                          .arg(i);
    }
    for (auto _ : state)
        benchmark::DoNotOptimize(app::bestEntries(entries, u"vecadd", 200));
}

BENCHMARK_CAPTURE(sortsRows, byStart, app::TableOrder{})->Arg(kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sortsRows, byDuration, app::TableOrder{by(Field::Duration, true)})
    ->Arg(kMillion)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sortsRows, byName, app::TableOrder{by(Field::Name)})->Arg(kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sortsRows, byClass, app::TableOrder{by(Field::Class)})->Arg(kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sortsRows, byNameAndDuration, app::TableOrder{by(Field::Name), by(Field::Duration, true)})
    ->Arg(kMillion)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lists, all, "")->Arg(kMillion)->Arg(10 * kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lists, filtered, "kernel_39 dur>50us")
    ->Arg(kMillion)
    ->Arg(10 * kMillion)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(groups, byName, app::TableGrouping{Field::Name})
    ->Arg(kMillion)
    ->Arg(10 * kMillion)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(groups, byClass, app::TableGrouping{Field::Class})->Arg(kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK(filtersThePalette)->Arg(21'000)->Unit(benchmark::kMillisecond);
BENCHMARK(formatsAScreen)->Arg(kMillion)->Unit(benchmark::kMicrosecond);

} // namespace
