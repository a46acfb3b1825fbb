#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/level_of_detail.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

// The mix of colours in a bucket: averages over time, in every path of the level-of-detail index.

namespace profiler {
namespace {

constexpr TrackId kTrack{0};

/// Distinct colours for each kind and name: for a name, the three digits of its number in base seven.
class ByName : public SlicePalette {
public:
    [[nodiscard]] MixedColor colorOf(ActivityKind kind, StringId name) const override
    {
        const auto digit = [&](std::uint32_t power) { return static_cast<float>(name.value / power % 7 * 36); };
        return {digit(1) + (kind == ActivityKind::GpuMemcpy ? 20.0F : 0.0F), digit(7), digit(49)};
    }
};

struct Work {
    std::int64_t begin, duration;
    std::uint32_t name;
    ActivityKind kind = ActivityKind::Kernel;
};

std::shared_ptr<const Trace> traceOf(const std::vector<Work>& works)
{
    TraceBuilder builder;
    Track stream;
    stream.kind = TrackKind::Stream;
    const TrackId track = builder.addTrack(stream);
    std::uint32_t names = 0;
    for (const Work& work : works)
        names = std::max(names, work.name);
    for (std::uint32_t name = 1; name <= names; ++name)
        EXPECT_EQ(builder.intern("name " + std::to_string(name)).value, name);
    for (const Work& work : works) {
        Slice slice;
        slice.begin = traceTime(work.begin);
        slice.duration = Nanoseconds{work.duration};
        slice.kind = work.kind;
        slice.name = StringId{work.name};
        builder.add(track, slice);
    }
    return builder.finish();
}

struct Expected {
    double busy = 0;
    ColorSum color; ///< weighted by ns
    double ns = 0;
};

Expected expectedIn(const Trace& trace, TimeRange span)
{
    const ByName palette;
    Expected expected;
    trace.forEach(kTrack, span, [&](const Slice& slice) {
        const auto ns = static_cast<double>(slice.range().clippedTo(span).duration().count());
        expected.color.add(palette.colorOf(slice.kind, slice.name), ns);
        expected.ns += ns;
        return true;
    });
    expected.busy = expected.ns / static_cast<double>(span.duration().count());
    return expected;
}

double difference(const MixedColor& a, const MixedColor& b)
{
    return std::max({std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

std::vector<ColoredBucket> bucketsOf(const Trace& trace, TimeRange window, std::size_t count,
                                     LodEdges edges = LodEdges::Fine)
{
    const ByName palette;
    std::vector<ColoredBucket> buckets(count);
    summarize(trace, kTrack, 0, window, std::span{buckets}, edges, palette);
    return buckets;
}

TimeRange spanOf(TimeRange window, std::size_t index, std::size_t count)
{
    const auto edge = [&](std::size_t i) {
        return window.begin + window.duration() * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(count);
    };
    return {edge(index), edge(index + 1)};
}

TEST(TraceMix, IsATimeWeightedAverage)
{
    // Three buckets of 1000 ns: 30 % of one name; half each of two kinds; one slice that covers the last bucket.
    const auto trace =
        traceOf({{100, 300, 1}, {1000, 500, 1}, {1500, 500, 2, ActivityKind::GpuMemcpy}, {2000, 1000, 3}});
    const ByName palette;
    const auto buckets = bucketsOf(*trace, {traceTime(0), traceTime(3000)}, 3);
    EXPECT_NEAR(buckets[0].busy, 0.3, 1e-6);
    EXPECT_LT(difference(buckets[0].color, palette.colorOf(ActivityKind::Kernel, {1})), 0.01);
    EXPECT_FALSE(buckets[0].isOne);
    ColorSum half;
    half.add(palette.colorOf(ActivityKind::Kernel, {1}), 1);
    half.add(palette.colorOf(ActivityKind::GpuMemcpy, {2}), 1);
    EXPECT_LT(difference(buckets[1].color, half.over(2)), 0.01);
    EXPECT_FALSE(buckets[1].isOne);
    EXPECT_TRUE(buckets[2].isOne);
    EXPECT_LT(difference(buckets[2].color, palette.colorOf(ActivityKind::Kernel, {3})), 0.01);
}

TEST(TraceMix, MarksBucketsThatBelongToOneSlice)
{
    // A slice as long as a bucket, with 60 % in one and 40 % in the next; then one that is slightly shorter.
    const auto trace = traceOf({{400, 1000, 1}, {1400, 600, 2}, {2000, 999, 3}});
    const auto buckets = bucketsOf(*trace, {traceTime(0), traceTime(3000)}, 3);
    EXPECT_TRUE(buckets[0].isOne);
    EXPECT_FALSE(buckets[1].isOne) << "the long slice covers less than half of it";
    EXPECT_FALSE(buckets[2].isOne) << "shorter than the bucket";
    const auto even = bucketsOf(*traceOf({{500, 1000, 1}, {1500, 500, 2}}), {traceTime(0), traceTime(2000)}, 2);
    EXPECT_TRUE(even[0].isOne) << "it covers half of the bucket";
    EXPECT_TRUE(even[1].isOne);
}

/// Kernels with `names` names, of 1 to 2000 ns with pauses, in stretches in which some names are frequent.
std::vector<Work> randomWork(std::size_t count, std::uint32_t names, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> duration(1, 2000), pause(0, 500);
    std::uniform_int_distribution<std::uint32_t> any(1, names), kind(0, 9);
    std::vector<Work> works;
    std::int64_t at = 0;
    std::uint32_t common = 1;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % 700 == 0)
            common = any(random);
        Work work{at, duration(random), kind(random) < 5 ? common : any(random)};
        at += work.duration + pause(random);
        works.push_back(work);
    }
    return works;
}

TEST(TraceMix, EqualsTheMixOfTheSlicesAtEveryScale)
{
    const auto trace = traceOf(randomWork(300'000, 14, 1));
    const TimeRange all = trace->range();
    for (const double share : {1.0, 0.21, 0.02, 0.002}) {
        const TimeRange window{
            all.begin + all.duration() / 3,
            all.begin + all.duration() / 3 +
                Nanoseconds{static_cast<std::int64_t>(static_cast<double>(all.duration().count()) * 0.6 * share)}};
        constexpr std::size_t kCount = 100;
        const auto fine = bucketsOf(*trace, window, kCount);
        double worst = 0, mean = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
            const Expected expected = expectedIn(*trace, spanOf(window, i, kCount));
            const double off = difference(fine[i].color, expected.color.over(expected.ns));
            worst = std::max(worst, off);
            mean += off / kCount;
        }
        // Out of 255: at the edges of a bucket with hundreds of slices, a group of 16 is divided evenly.
        EXPECT_LT(worst, 6) << share;
        EXPECT_LT(mean, 1.5) << share;
    }
}

TEST(TraceMix, ConservesTheTimeOfEachName)
{
    // However the window is divided, the buckets together show the same as the whole, even with more names than a row
    // stores times for.
    for (const std::uint32_t names : {2U, 16U, 17U, 40U}) {
        const auto trace = traceOf(randomWork(150'000, names, names));
        const TimeRange all = trace->range();
        const Expected expected = expectedIn(*trace, all);
        for (const std::size_t count : {1U, 7U, 400U, 20'000U}) {
            for (const LodEdges edges : {LodEdges::Fine, LodEdges::Coarse}) {
                ColorSum sum;
                double busy = 0;
                for (const ColoredBucket& bucket : bucketsOf(*trace, all, count, edges)) {
                    sum.add(bucket.color, static_cast<double>(bucket.busy));
                    busy += static_cast<double>(bucket.busy);
                }
                EXPECT_NEAR(busy / static_cast<double>(count), expected.busy, 1e-3);
                EXPECT_LT(difference(sum.over(busy), expected.color.over(expected.ns)), 0.7)
                    << names << " names, " << count << " buckets, " << (edges == LodEdges::Fine ? "fine" : "coarse");
            }
        }
    }
}

TEST(TraceMix, IsAvailableForFiles)
{
    const auto trace = traceOf(randomWork(150'000, 30, 5));
    const auto path =
        std::filesystem::temp_directory_path() / ("stepscope-mix-" + std::to_string(getpid()) + ".sspack");
    ASSERT_TRUE(container::writeTrace(*trace, path));
    const auto read = container::readTrace(path);
    ASSERT_TRUE(read) << read.error().message();
    std::filesystem::remove(path); // an open file can still be read
    const auto before = bucketsOf(*trace, trace->range(), 120), after = bucketsOf(**read, trace->range(), 120);
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_LT(difference(before[i].color, after[i].color), 4)
            << i << ": from groups of 64 slices, without reading blocks";
}

TEST(TraceMix, HasColoursForSlicesWithoutDuration)
{
    const ByName palette;
    const auto buckets = bucketsOf(*traceOf({{100, 0, 4}, {2000, 10, 1}}), {traceTime(0), traceTime(1000)}, 1);
    EXPECT_EQ(buckets[0].count, 1U);
    EXPECT_LT(difference(buckets[0].color, palette.colorOf(ActivityKind::Kernel, {4})), 0.01);
}

} // namespace
} // namespace profiler
