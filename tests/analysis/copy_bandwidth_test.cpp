#include "profiler/analysis/device/copy_bandwidth.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

CopyBandwidth bandwidthOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return copyBandwidth(*trace, analysedPart(findSteps(*trace)));
}

std::optional<double> shareOf(const CopyBandwidth& copies, std::size_t row)
{
    return copies.shareOfBest(copies.classes.at(row).all, copies.classes.at(row).kind);
}

constexpr std::string_view kCopies = R"(
    stream 0 7
      copy HtoD 0 100 bytes=2000000 src=pinned dst=device
      copy HtoD 200 400 bytes=2000000 src=pageable dst=device
      copy HtoD 700 400 bytes=4000000 src=pageable dst=device
      copy HtoD 1200 10 bytes=1000 src=pageable dst=device
      copy DtoH 1300 10 bytes=4 src=device dst=pageable
)";

TEST(CopyBandwidth, IsBytesOverTimePerKindOfMemory)
{
    const CopyBandwidth copies = bandwidthOf(kCopies);
    ASSERT_EQ(copies.classes.size(), 3U);
    const CopyClass& pageable = copies.classes[0];
    EXPECT_EQ(pageable.src, MemoryKind::Pageable);
    EXPECT_EQ(pageable.all.count, 3);
    EXPECT_EQ(pageable.all.bytes, 6'001'000);
    EXPECT_NEAR(pageable.all.gbPerSecond(), 6.001 / 0.81, 1e-9);
    EXPECT_EQ(pageable.sizes[0].count, 1);
    EXPECT_EQ(pageable.sizes[1].count, 0);
    EXPECT_EQ(pageable.sizes[2].count, 2);
    EXPECT_EQ(copies.classes[1].src, MemoryKind::Pinned);
}

TEST(CopyBandwidth, TheBestLargeCopyOfAKindIsTheReference)
{
    const CopyBandwidth copies = bandwidthOf(kCopies);
    ASSERT_EQ(copies.best.size(), 1U); // a copy of 4 bytes says nothing about a link
    EXPECT_NEAR(copies.best[0].gbPerSecond, 20, 1e-9);
    EXPECT_EQ(copies.best[0].src, MemoryKind::Pinned);
    EXPECT_NEAR(shareOf(copies, 0).value(), 6.001 / 0.81 / 20, 1e-9);
    EXPECT_NEAR(static_cast<double>(copies.classes[0].overBest.count()), 810'000 - 300'050, 1);
    EXPECT_NEAR(shareOf(copies, 1).value(), 1, 1e-9);
    EXPECT_FALSE(shareOf(copies, 2).has_value());
}

TEST(CopyBandwidth, ACopyIsInTheClassOfItsSize)
{
    constexpr std::int64_t kKiB = 1024;
    const std::pair<std::int64_t, std::size_t> edges[] = {
        {0, 0},           {64 * kKiB - 1, 0},        {64 * kKiB, 1},       {1024 * kKiB - 1, 1},
        {1024 * kKiB, 2}, {16 * 1024 * kKiB - 1, 2}, {16 * 1024 * kKiB, 3}};
    for (const auto& [bytes, size] : edges) {
        const CopyBandwidth copies = bandwidthOf("stream 0 7\ncopy HtoD 0 10 bytes=" + std::to_string(bytes));
        EXPECT_EQ(copies.classes.at(0).sizes[size].count, 1) << bytes;
    }
}

TEST(CopyBandwidth, CoversTheStepsButTheReferenceComesFromTheWholeTrace)
{
    const std::string text = "main\nstep 0 0 150\nstep 1 650 500\n" + std::string(kCopies);
    const CopyBandwidth copies = bandwidthOf(text);
    ASSERT_EQ(copies.classes.size(), 1U);
    EXPECT_EQ(copies.classes[0].all.bytes, 4'000'000);
    EXPECT_NEAR(shareOf(copies, 0).value(), 0.5, 1e-9);
}

TEST(CopyBandwidth, ARecordedLinkIsTheReference)
{
    const std::string devices = "device 0 \"NVIDIA A100\" GPU-a\nmeta link.GPU-a PCIe 4.0 x16\n";
    const CopyBandwidth copies = bandwidthOf(devices + std::string(kCopies) + "copy DtoD 1400 100 bytes=50000000\n");
    EXPECT_EQ(copies.link, (PcieLink{4, 16}));
    const double rate = 16 * 2 * 128.0 / 130; // GB/s
    EXPECT_NEAR(copies.bestGbPerSecond(CopyKind::HtoD).value(), rate, 1e-9);
    EXPECT_NEAR(shareOf(copies, 0).value(), 6.001 / 0.81 / rate, 1e-9);
    EXPECT_NEAR(static_cast<double>(copies.classes[0].overBest.count()), 810'000 - 6'001'000 / rate, 1);
    EXPECT_NEAR(copies.bestGbPerSecond(CopyKind::DtoH).value(), rate, 1e-9)
        << "with a known link, small copies need no large one";
    EXPECT_NEAR(copies.bestGbPerSecond(CopyKind::DtoD).value(), 500, 1e-9) << "these do not use the link";
}

TEST(CopyBandwidth, ALinkThatCopiesDoNotUseIsNotTheReference)
{
    const auto bestOf = [](const std::string& facts) {
        return bandwidthOf(facts + std::string(kCopies)).bestGbPerSecond(CopyKind::HtoD).value();
    };
    const std::string a = "device 0 A GPU-a\n", b = "device 1 B GPU-b\n", of = "meta link.GPU-";
    EXPECT_NEAR(bestOf(a + of + "a PCIe 3.0 x16\n"), 20, 1e-9) << "one was faster than the link";
    EXPECT_NEAR(bestOf(a + of + "b PCIe 5.0 x16\n"), 20, 1e-9) << "the link of another device";
    EXPECT_NEAR(bestOf(a + b + of + "a PCIe 5.0 x16\n"), 20, 1e-9) << "the link of one device is unknown";
    EXPECT_NEAR(bestOf(a + b + of + "a PCIe 5.0 x16\n" + of + "b PCIe 5.0 x8\n"), 20, 1e-9) << "the links differ";
    EXPECT_NEAR(bestOf(a + b + of + "a PCIe 5.0 x16\n" + of + "b PCIe 5.0 x16\n"), 63.015, 0.001);
    EXPECT_NEAR(bestOf(a + of + "a very fast\n"), 20, 1e-9);
}

TEST(CopyBandwidth, ZeroTimeAndZeroBytesDoNotDivideByZero)
{
    const CopyBandwidth copies = bandwidthOf("stream 0 7\ncopy HtoD 0 0 bytes=2000000\ncopy HtoD 5 10");
    ASSERT_EQ(copies.classes.size(), 1U);
    EXPECT_TRUE(copies.best.empty());
    EXPECT_EQ(copies.classes[0].overBest.count(), 0);
}

TEST(CopyBandwidth, ReportsWhyThereIsNoResult)
{
    EXPECT_EQ(bandwidthOf("main\nop aten::mm 0 10").cannotTell, "the trace contains no copies");
    EXPECT_EQ(bandwidthOf("main\nstep 0 0 10\nstep 1 10 10\nstream 0 7\ncopy HtoD 50 5 bytes=4").cannotTell,
              "no copy starts in the steps");
}

} // namespace
} // namespace profiler::analysis
