#include "profiler/analysis/slice_queries.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace profiler::analysis {
namespace {

std::vector<Slice> manySlices(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<Slice> slices(count);
    for (std::size_t i = 0; i < count; ++i) {
        slices[i].id = {TrackId{0}, static_cast<std::uint32_t>(i)};
        slices[i].begin = traceTime(static_cast<std::int64_t>(random() % 50));
        slices[i].duration = Nanoseconds{random() % 4};
        slices[i].depth = static_cast<std::uint8_t>(random() % 3);
    }
    return slices;
}

TEST(SortByNesting, IsAStableSortByBeginLongestAndDepth)
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::vector<Slice> slices = manySlices(seed * 3, seed), expected = slices;
        std::stable_sort(expected.begin(), expected.end(), [](const Slice& a, const Slice& b) {
            return std::tuple{a.begin, -a.duration, a.depth} < std::tuple{b.begin, -b.duration, b.depth};
        });
        sortByNesting(slices);
        ASSERT_EQ(slices.size(), expected.size());
        for (std::size_t i = 0; i < slices.size(); ++i)
            ASSERT_EQ(slices[i].id, expected[i].id) << "seed " << seed << ", place " << i;
    }
}

TEST(OfKindNamed, SelectsByNameAndEvaluatesEachNameOnce)
{
    const auto trace = test_support::traceFromText(R"(
        main
          repeat 3 every 100
            op aten::add 0 10
            op aten::mul 20 10
            phase aten::add 40 10
          end
    )");
    int asked = 0;
    const auto found = ofKindNamed(*trace, ActivityKind::CpuOp, [&](std::string_view name) {
        ++asked;
        return name == "aten::add";
    });
    ASSERT_EQ(found.size(), 3U);
    for (const Slice& slice : found)
        EXPECT_EQ(trace->name(slice), "aten::add");
    EXPECT_LE(asked, static_cast<int>(trace->stringCount()));
    EXPECT_TRUE(ofKindNamed(*trace, ActivityKind::CpuOp, [](std::string_view name) { return name == "x"; }).empty());
    EXPECT_EQ(trace->ofKind(ActivityKind::CpuOp).size(), 6U);
    EXPECT_TRUE(hasKind(*trace, ActivityKind::Phase));
    EXPECT_FALSE(hasKind(*trace, ActivityKind::Kernel));
}

} // namespace
} // namespace profiler::analysis
