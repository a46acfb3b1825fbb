#include "app/charts/counter_series.h"

#include "profiler/formats/container/spill_file.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace app {
namespace {

/// A growing counter.
struct Waves {
    profiler::TraceBuilder builder;
    profiler::TrackId track = builder.addTrack(counter());
    int made = 0;

    static profiler::Track counter()
    {
        profiler::Track counter;
        counter.kind = profiler::TrackKind::Counter;
        return counter;
    }
    void add(int count)
    {
        for (const int end = made + count; made < end; ++made)
            builder.addSample(track, {profiler::traceTime(made), static_cast<double>(made * 7919 % 1009) - 500});
    }
    void readInto(CounterSeries& series) { series.read(*builder.snapshot(), track); }
};

bool same(const profiler::CounterSample& a, const profiler::CounterSample& b)
{
    return a.time == b.time && a.value == b.value;
}

void expectOf(const CounterSeries& series, Waves& waves)
{
    const auto wanted = waves.builder.snapshot()->counter(waves.track);
    const auto& samples = series.samples();
    EXPECT_TRUE(std::equal(samples.begin(), samples.end(), wanted.begin(), wanted.end(), same));
    CounterSeries whole;
    waves.readInto(whole);
    for (std::size_t from = 0; from < samples.size(); from += 37) {
        EXPECT_EQ(series.extent(from, samples.size()).least, whole.extent(from, samples.size()).least) << from;
        EXPECT_EQ(series.extent(from, samples.size()).most, whole.extent(from, samples.size()).most) << from;
    }
    EXPECT_EQ(series.extent().least, whole.extent().least);
    EXPECT_EQ(series.extent().most, whole.extent().most);
}

TEST(CounterSeries, TheExtentOfAnyIntervalIsThatOfItsSamples)
{
    Waves waves;
    waves.add(1000);
    CounterSeries series;
    waves.readInto(series);
    const auto& samples = series.samples();
    const auto byValue = [](const auto& a, const auto& b) { return a.value < b.value; };
    const auto expectAt = [&](std::size_t from, std::size_t to) {
        const auto [least, most] = std::minmax_element(samples.begin() + static_cast<std::ptrdiff_t>(from),
                                                       samples.begin() + static_cast<std::ptrdiff_t>(to), byValue);
        const auto extent = series.extent(from, to);
        EXPECT_EQ(extent.least, least->value) << from << " to " << to;
        EXPECT_EQ(extent.most, most->value) << from << " to " << to;
    };
    for (const std::size_t from : {0, 1, 7, 8, 9, 63, 64, 65, 128, 500, 504, 512, 999})
        for (const std::size_t length : {1, 2, 7, 8, 9, 56, 63, 64, 65, 127, 128, 129, 400, 488, 512, 1000})
            if (from + length <= samples.size())
                expectAt(from, from + length);
    expectAt(0, samples.size());
    EXPECT_EQ(series.extent().least, series.extent(0, 1000).least);
    EXPECT_EQ(series.extent().most, series.extent(0, 1000).most);
}

TEST(CounterSeries, AddsOnlyNewSamples)
{
    Waves waves;
    CounterSeries series;
    for (const int count : {1, 6, 1, 1, 54, 1, 1, 200, 0, 64, 183, 7}) {
        waves.add(count);
        waves.readInto(series);
        ASSERT_EQ(series.samples().size(), static_cast<std::size_t>(waves.made));
        expectOf(series, waves);
    }
}

TEST(CounterSeries, LateSamplesAreInsertedByTime)
{
    Waves waves;
    CounterSeries series;
    waves.add(300);
    waves.readInto(series);
    for (const int time : {310, 100, 100, 5, 305})
        waves.builder.addSample(waves.track, {profiler::traceTime(time), 1000.0 + time});
    waves.readInto(series);
    expectOf(series, waves);
    EXPECT_EQ(series.extent().most, 1310);
}

TEST(CounterSeries, ReadsSamplesOnDisk)
{
    constexpr std::size_t kBudget = 100'000; // limit in bytes for a quarter of the samples
    Waves waves;
    auto file = profiler::container::SpillFile::make(std::filesystem::temp_directory_path(), kBudget);
    ASSERT_TRUE(file) << file.error().message();
    waves.builder.setSpill(*file, kBudget);
    for (int piece = 0; piece < 5; ++piece) {
        std::vector<profiler::CounterSample> samples;
        for (int i = 0; i < 5'000; ++i, ++waves.made)
            samples.push_back({profiler::traceTime(waves.made), waves.made % 100 - 50.0});
        waves.builder.addSamples(waves.track, std::move(samples), profiler::SampleMeaning::Value);
    }
    const auto trace = waves.builder.finish();
    ASSERT_FALSE(trace->slicesOf(waves.track).spilledSamples.empty());
    CounterSeries series;
    for (int reading = 0; reading < 2; ++reading) { // the second finds nothing new
        series.read(*trace, waves.track);
        const auto wanted = trace->counter(waves.track);
        ASSERT_EQ(wanted.size(), 25'000U);
        const auto& samples = series.samples();
        ASSERT_TRUE(std::equal(samples.begin(), samples.end(), wanted.begin(), wanted.end(), same));
        EXPECT_EQ(series.extent().least, -50);
        EXPECT_EQ(series.extent().most, 49);
    }
}

TEST(CounterSeries, NoSamplesHaveNoExtent)
{
    CounterSeries series;
    Waves waves;
    waves.readInto(series);
    EXPECT_TRUE(series.samples().empty());
    EXPECT_EQ(series.extent().least, 0);
    EXPECT_EQ(series.extent().most, 0);
}

} // namespace
} // namespace app
