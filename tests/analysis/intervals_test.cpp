#include "profiler/analysis/intervals.h"
#include "profiler/analysis/statistics.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace profiler::analysis {
namespace {

TimeRange ns(std::int64_t begin, std::int64_t end)
{
    return {traceTime(begin), traceTime(end)};
}

constexpr int kSpan = 60;
using Cells = std::vector<bool>;

Intervals randomRanges(std::mt19937& random)
{
    std::uniform_int_distribution<int> at(0, kSpan), count(0, 8);
    Intervals ranges;
    for (int i = count(random); i > 0; --i) {
        const int begin = at(random);
        ranges.push_back(ns(begin, at(random)));
    }
    return ranges;
}

Cells cells(const Intervals& ranges)
{
    Cells covered(kSpan);
    for (int i = 0; i < kSpan; ++i)
        for (const TimeRange range : ranges)
            covered[static_cast<std::size_t>(i)] = covered[static_cast<std::size_t>(i)] || range.contains(traceTime(i));
    return covered;
}

TEST(Intervals, TouchingAndOverlappingRangesAreMerged)
{
    EXPECT_EQ(unite({ns(5, 8), ns(0, 3), ns(3, 4), ns(7, 9), ns(6, 6)}), (Intervals{ns(0, 4), ns(5, 9)}));
}

TEST(Intervals, SetOperationsAgreeWithCountingEachNanosecond)
{
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        const Intervals rawA = randomRanges(random), rawB = randomRanges(random);
        const Intervals a = unite(rawA), b = unite(rawB);
        const Cells inA = cells(rawA), inB = cells(rawB);
        EXPECT_EQ(cells(a), inA);
        Cells both(kSpan), onlyA(kSpan);
        for (std::size_t i = 0; i < kSpan; ++i) {
            both[i] = inA[i] && inB[i];
            onlyA[i] = inA[i] && !inB[i];
        }
        ASSERT_EQ(cells(intersect(a, b)), both);
        ASSERT_EQ(cells(subtract(a, b)), onlyA);
        ASSERT_EQ(total(subtract(a, b)) + total(intersect(a, b)), total(a));
        for (const TimeRange range : b) {
            const auto part = overlapping(a, range);
            const std::vector<TimeRange> whole{range};
            ASSERT_EQ(intersect(part, whole), intersect(a, whole)) << "parts outside of the range do not matter";
            for (const TimeRange some : part)
                ASSERT_TRUE(some.overlaps(range));
        }
    }
}

TEST(Percentile, InterpolatesBetweenTheClosestRanks)
{
    EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(percentile({10, 20}, 0.9), 19);
    EXPECT_DOUBLE_EQ(percentile({7}, 0.9), 7);
    EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

} // namespace
} // namespace profiler::analysis
