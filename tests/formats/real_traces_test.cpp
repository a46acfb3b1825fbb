#include "profiler/formats/format.h"
#include "tests/support/message_matchers.h"

#include <cstdlib>
#include <gtest/gtest.h>

// Public traces of PyTorch's profiler, if they are in the shared folder or in $STEPSCOPE_SHARED_TRACES: compares them
// with careful counts of each file.
namespace {

using namespace profiler;

struct Expected {
    std::string_view file;
    std::size_t events, steps, kernels, copies, memsets;
    double kernelUs;
    std::int64_t copiedBytes;    ///< 0: not counted
    std::uint64_t unmatched = 0; ///< launched before the recording started
    bool overlap = false;        ///< slices of one row overlap
};

std::filesystem::path folder()
{
    const char* chosen = std::getenv("STEPSCOPE_SHARED_TRACES");
    return chosen ? chosen : STEPSCOPE_SHARED_TRACES;
}

class RealTraces : public testing::TestWithParam<Expected> {};

TEST_P(RealTraces, MatchTheExpectedCounts)
{
    const Expected& expected = GetParam();
    const auto path = folder() / expected.file;
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "no " << path << ": set STEPSCOPE_SHARED_TRACES";
    const auto opened = formats::openTrace(path);
    ASSERT_TRUE(opened) << opened.error().message();
    const Trace& trace = **opened;
    EXPECT_EQ(trace.metadata().at("source.events"), std::to_string(expected.events));
    EXPECT_EQ(trace.ofKind(ActivityKind::Step).size(), expected.steps);
    EXPECT_EQ(trace.ofKind(ActivityKind::GpuMemset).size(), expected.memsets);
    const auto kernels = trace.ofKind(ActivityKind::Kernel);
    EXPECT_EQ(kernels.size(), expected.kernels);
    Nanoseconds time{0};
    for (const Slice& kernel : kernels)
        time += kernel.duration;
    EXPECT_NEAR(static_cast<double>(time.count()) / 1000, expected.kernelUs, 0.05);
    const auto copies = trace.ofKind(ActivityKind::GpuMemcpy);
    EXPECT_EQ(copies.size(), expected.copies);
    std::int64_t bytes = 0;
    for (const Slice& copy : copies)
        bytes += copy.args.bytes;
    if (expected.copiedBytes > 0) {
        EXPECT_EQ(bytes, expected.copiedBytes);
    }
    EXPECT_EQ(trace.captureStats().unmatched, expected.unmatched);
    EXPECT_EQ(trace.captureStats().dropped, 0U);
    EXPECT_EQ(trace.captureStats().notes.size(), (expected.unmatched > 0 ? 1U : 0U) + (expected.overlap ? 1U : 0U));
    if (expected.overlap) {
        EXPECT_THAT(trace.captureStats().notes.front(), test::hasId("json.loss.overlapping", {{"count", 2}}))
            << expected.file;
    }
    const auto details = trace.details(kernels.front().id);
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_EQ(details->front().first, "ph");
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealTraces,
    testing::Values(Expected{"v100_resnet50_nw0_a.json.gz", 75718, 6, 8772, 12, 312, 591532, 115607040},
                    Expected{"v100_resnet50_nw4_a.json.gz", 71424, 6, 8868, 12, 378, 594868, 0},
                    Expected{"v100_resnet_gpu_bound_ns.json.gz", 68692, 5, 4350, 1600, 145, 468153.602, 0},
                    Expected{"h100_bertsmall_launch_bound.json.gz", 2551, 1, 60, 1, 0, 307.2, 1, 0, true},
                    Expected{"h100_qwen_gpu_bound_control.json.gz", 18221, 1, 1465, 1, 241, 45432.7, 1, 509, true}));

} // namespace
