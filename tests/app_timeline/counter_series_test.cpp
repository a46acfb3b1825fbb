#include "app/widgets/counter_series.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace app {
namespace {

std::vector<profiler::CounterSample> waves(int count)
{
    std::vector<profiler::CounterSample> samples;
    for (int i = 0; i < count; ++i)
        samples.push_back({profiler::traceTime(i), static_cast<double>(i * 7919 % 1009) - 500});
    return samples;
}

TEST(CounterSeries, TheExtentOfAnyStretchIsThatOfItsSamples)
{
    const CounterSeries series(waves(1000));
    const auto& samples = series.samples();
    const auto byValue = [](const auto& a, const auto& b) { return a.value < b.value; };
    const auto expectAt = [&](std::size_t from, std::size_t to) {
        const auto [least, most] = std::minmax_element(samples.begin() + static_cast<std::ptrdiff_t>(from),
                                                       samples.begin() + static_cast<std::ptrdiff_t>(to), byValue);
        const auto extent = series.extent(from, to);
        EXPECT_EQ(extent.least, least->value) << from << " to " << to;
        EXPECT_EQ(extent.most, most->value) << from << " to " << to;
    };
    for (const std::size_t from : {0, 1, 63, 64, 65, 128, 500, 999})
        for (const std::size_t length : {1, 2, 63, 64, 65, 127, 128, 129, 400, 1000})
            if (from + length <= samples.size())
                expectAt(from, from + length);
    expectAt(0, samples.size());
    EXPECT_EQ(series.extent().least, series.extent(0, 1000).least);
    EXPECT_EQ(series.extent().most, series.extent(0, 1000).most);
}

TEST(CounterSeries, NoSamplesHaveNoExtent)
{
    const CounterSeries series({});
    EXPECT_TRUE(series.samples().empty());
    EXPECT_EQ(series.extent().least, 0);
    EXPECT_EQ(series.extent().most, 0);
}

} // namespace
} // namespace app
