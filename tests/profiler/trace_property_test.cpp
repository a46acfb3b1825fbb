#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// Compares queries on random traces with the result of checking every slice.
namespace {

using namespace profiler;

struct Shape {
    int slices;
    bool nested;   ///< properly nested; otherwise slices overlap arbitrarily
    bool inferred; ///< depths are inferred from the intervals
    int snapshotEvery;
};

class RandomTrace {
public:
    RandomTrace(const Shape& shape, unsigned seed) : m_random(seed)
    {
        m_track = m_builder.addTrack({});
        for (int i = 0; i < 20; ++i)
            m_names.push_back(m_builder.intern(std::string(1, static_cast<char>('a' + i))));
        if (shape.nested)
            nest(0, static_cast<std::int64_t>(shape.slices) * 20, 0, shape);
        while (static_cast<int>(m_slices.size()) < shape.slices && !shape.nested)
            add(between(0, shape.slices * 10), between(0, 60), static_cast<std::uint8_t>(between(0, 3)), shape);
        m_trace = m_builder.finish();
        if (shape.inferred) { // inferred depths are checked separately
            for (Slice& slice : m_slices)
                slice.depth = m_trace->slice(slice.id).depth;
        }
    }

    const Trace& trace() const { return *m_trace; }
    TrackId track() const { return m_track; }
    const std::vector<Slice>& slices() const { return m_slices; }
    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>{least, most}(m_random);
    }

private:
    void nest(std::int64_t begin, std::int64_t end, std::uint8_t depth, const Shape& shape)
    {
        while (begin < end && static_cast<int>(m_slices.size()) < shape.slices) {
            const std::int64_t from = begin + between(0, 15);
            const std::int64_t to = std::min(end, from + between(0, depth == 0 ? 400 : 60));
            if (from > to)
                return;
            if (depth < 4 && to - from > 8)
                nest(from + between(0, 3), to, static_cast<std::uint8_t>(depth + 1), shape);
            add(from, to - from, depth, shape);
            begin = std::max(to, from + 1);
        }
    }
    void add(std::int64_t begin, std::int64_t duration, std::uint8_t depth, const Shape& shape)
    {
        Slice slice;
        slice.begin = traceTime(begin);
        slice.duration = Nanoseconds{duration};
        slice.depth = shape.inferred ? TraceBuilder::kUnknownDepth : depth;
        slice.kind = between(0, 2) == 0 ? ActivityKind::CudaRuntime : ActivityKind::CpuOp;
        slice.name = m_names[static_cast<std::size_t>(between(0, 19))];
        slice.args.bytes = between(0, 9);
        slice.id = {m_track, static_cast<std::uint32_t>(m_slices.size())};
        m_builder.add(m_track, slice);
        m_slices.push_back(slice);
        if (shape.snapshotEvery > 0 && m_slices.size() % static_cast<std::size_t>(shape.snapshotEvery) == 0)
            m_trace = m_builder.snapshot();
    }

    std::mt19937 m_random;
    TraceBuilder m_builder;
    TrackId m_track;
    std::vector<StringId> m_names;
    std::vector<Slice> m_slices;
    std::shared_ptr<const Trace> m_trace;
};

/// A slice of length zero is where it starts.
bool lies(const Slice& slice, TimeRange window)
{
    return slice.begin < window.end && (slice.end() > window.begin || slice.begin >= window.begin);
}

void checkForEach(RandomTrace& random, TimeRange window)
{
    std::vector<std::uint32_t> expected, found;
    for (const Slice& slice : random.slices()) {
        if (lies(slice, window))
            expected.push_back(slice.id.ordinal);
    }
    random.trace().forEach(random.track(), window, [&](const Slice& slice) {
        const Slice& fed = random.slices()[slice.id.ordinal];
        EXPECT_TRUE(slice.begin == fed.begin && slice.duration == fed.duration && slice.name == fed.name);
        EXPECT_TRUE(slice.kind == fed.kind && slice.depth == fed.depth && slice.args == fed.args);
        found.push_back(slice.id.ordinal);
        return true;
    });
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected);
}

void checkBeginIn(RandomTrace& random, TimeRange window)
{
    std::size_t count = 0;
    for (const Slice& slice : random.slices())
        count += window.contains(slice.begin);
    ASSERT_EQ(random.trace().beginIn(random.track(), window, 1'000'000), count);
    const auto most = static_cast<std::size_t>(random.between(0, 100));
    ASSERT_EQ(random.trace().beginIn(random.track(), window, most), std::min(count, most));
}

/// From this many slices of a kind in a bucket on, the index may use groups.
constexpr std::uint32_t kCounted = 240;

void checkBucket(const RandomTrace& random, int depth, TimeRange span, const LodBucket& bucket)
{
    std::uint32_t count = 0;
    double covered = 0;
    std::array<std::uint32_t, kActivityKinds> kindCount{};
    std::vector<double> ofKind(kActivityKinds, -1);
    std::int64_t longest = -1;
    bool nameIsOfALongest = false;
    for (const Slice& slice : random.slices()) {
        if (slice.depth != depth || !lies(slice, span))
            continue;
        ++count;
        ++kindCount[static_cast<std::size_t>(slice.kind)];
        const auto part = static_cast<double>(slice.range().clippedTo(span).duration().count());
        covered += part;
        double& kind = ofKind[static_cast<std::size_t>(slice.kind)];
        kind = std::max(kind, 0.0) + part;
        if (slice.duration.count() > longest) {
            longest = slice.duration.count();
            nameIsOfALongest = false;
        }
        nameIsOfALongest |= slice.duration.count() == longest && slice.name == bucket.name;
    }
    const double busy = std::min(covered / static_cast<double>(span.duration().count()), 1.0);
    if (*std::max_element(kindCount.begin(), kindCount.end()) >= kCounted) {
        ASSERT_NEAR(bucket.count, count, count / 8);
        ASSERT_NEAR(bucket.busy, busy, busy / 8);
        return;
    }
    ASSERT_EQ(bucket.count, count);
    ASSERT_NEAR(bucket.busy, busy, 1e-5);
    if (count > 0) {
        ASSERT_TRUE(nameIsOfALongest);
        ASSERT_EQ(ofKind[static_cast<std::size_t>(bucket.kind)], *std::max_element(ofKind.begin(), ofKind.end()));
    }
}

void checkSummary(RandomTrace& random, TimeRange window)
{
    const auto count = random.between(1, 40);
    std::vector<LodBucket> buckets(static_cast<std::size_t>(count));
    const std::int64_t width = window.duration().count();
    for (int depth = 0; depth <= random.trace().depthCount(random.track()); ++depth) {
        random.trace().summarize(random.track(), depth, window, buckets);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto edge = [&](std::int64_t n) { return toNs(window.begin) + width * n / count; };
            const TimeRange span{traceTime(edge(i)), traceTime(std::max(edge(i + 1), edge(i) + 1))};
            checkBucket(random, depth, span, buckets[static_cast<std::size_t>(i)]);
        }
    }
}

void checkAt(RandomTrace& random, TraceTime time)
{
    for (int depth = 0; depth < random.trace().depthCount(random.track()); ++depth) {
        const auto found = random.trace().at(random.track(), depth, time);
        TraceTime latest{Nanoseconds::min()};
        for (const Slice& slice : random.slices()) {
            if (slice.depth == depth && slice.range().contains(time))
                latest = std::max(latest, slice.begin);
        }
        ASSERT_EQ(found.has_value(), latest != TraceTime{Nanoseconds::min()});
        if (found) {
            ASSERT_EQ(found->begin, latest);
        }
    }
}

class TraceProperty : public testing::TestWithParam<Shape> {};

TEST_P(TraceProperty, QueriesEqualCheckingEverySlice)
{
    for (unsigned seed = 0; seed < 12; ++seed) {
        RandomTrace random{GetParam(), seed};
        ASSERT_EQ(random.trace().sliceCount(), random.slices().size());
        const std::int64_t end = toNs(random.trace().range().end);
        for (int i = 0; i < 12; ++i) {
            const std::int64_t begin = random.between(-20, end);
            const TimeRange window{traceTime(begin), traceTime(begin + random.between(1, i % 2 == 0 ? 200 : end))};
            ASSERT_NO_FATAL_FAILURE(checkForEach(random, window));
            ASSERT_NO_FATAL_FAILURE(checkBeginIn(random, window));
            ASSERT_NO_FATAL_FAILURE(checkSummary(random, window));
            ASSERT_NO_FATAL_FAILURE(checkAt(random, window.begin));
        }
        ASSERT_NO_FATAL_FAILURE(checkSummary(random, random.trace().range()));
    }
}

TEST_P(TraceProperty, BucketsShorterThanANanosecondCoverANanosecond)
{
    RandomTrace random{GetParam(), 5};
    const TraceTime first = random.trace().range().begin;
    for (int i = 0; i < 40; ++i) { // also from a time at which a row has no slice yet
        const TraceTime begin = i % 2 == 0 ? first : first + Nanoseconds{random.between(0, 500)};
        ASSERT_NO_FATAL_FAILURE(checkSummary(random, {begin, begin + Nanoseconds{random.between(1, 9)}}));
    }
}

TEST_P(TraceProperty, SortsAllSlices)
{
    RandomTrace random{GetParam(), 99};
    const auto sorted = random.trace().sorted(random.track());
    ASSERT_EQ(sorted.size(), random.slices().size());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        ASSERT_LE(sorted[i - 1].begin, sorted[i].begin);
        if (sorted[i - 1].begin == sorted[i].begin) {
            ASSERT_GE(sorted[i - 1].duration, sorted[i].duration);
        }
    }
    EXPECT_EQ(random.trace().ofKind(ActivityKind::CpuOp).size() +
                  random.trace().ofKind(ActivityKind::CudaRuntime).size(),
              sorted.size());
}

INSTANTIATE_TEST_SUITE_P(Shapes, TraceProperty,
                         testing::Values(Shape{1500, true, false, 0}, Shape{1500, true, false, 37},
                                         Shape{1500, true, true, 0}, Shape{800, false, false, 0},
                                         Shape{800, false, false, 11}, Shape{800, false, true, 53}));

TEST(TraceNestingProperty, SlicesOfAnInferredDepthDoNotOverlap)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const RandomTrace random{Shape{600, seed % 2 == 0, true, static_cast<int>(seed % 3) * 17}, seed};
        std::vector<TraceTime> ends(256, TraceTime{Nanoseconds::min()});
        for (const Slice& slice : random.trace().sorted(random.track())) {
            ASSERT_GE(slice.begin, ends[slice.depth]);
            ends[slice.depth] = slice.end();
        }
    }
}

TEST(TraceMemory, IsAtMost64BytesPerSlice)
{
    for (const bool nested : {true, false}) {
        TraceBuilder builder;
        const TrackId track = builder.addTrack({});
        Slice slice;
        slice.name = builder.intern("op");
        constexpr int kSlices = 300'000;
        for (int i = 0; i < kSlices; ++i) {
            slice.begin = traceTime(nested ? i / 4 * 100 + (3 - i % 4) * 10 : i * 100);
            slice.duration = Nanoseconds{nested ? 20 + i % 4 * 20 : 90};
            slice.depth = static_cast<std::uint8_t>(nested ? 3 - i % 4 : 0);
            slice.kind = ActivityKind::CpuOp;
            slice.sequence = i; // the worst case: every slice is in the link index
            builder.add(track, slice);
        }
        const auto live = builder.snapshot();
        EXPECT_LE(live->memoryBytes() / kSlices, 64U);
        const auto trace = builder.finish();
        EXPECT_LE(trace->memoryBytes() / kSlices, 64U);
        EXPECT_GE(trace->memoryBytes() / kSlices, 8U) << "start, duration and sequence number take that much";
    }
}

} // namespace
