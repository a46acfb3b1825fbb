#include "profiler/analysis/difference/step_difference.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using Row = StepDifference::Row;

const Row* find(const StepDifference& difference, ActivityKind kind, std::string_view name)
{
    for (const Row& row : difference.rows)
        if (row.kind == kind && row.name == name)
            return &row;
    return nullptr;
}

constexpr std::string_view kBefore = R"(
    main
      step 0 0 1000
      phase "data wait" 0 400
      phase forward 400 500
      op aten::linear 400 300
      op aten::addmm 450 100
      op aten::relu 750 100
      step 1 1000 5000
      op aten::linear 1000 4000
    stream 0 7
      copy HtoD 380 20
      kernel gemm 500 200
      kernel relu 800 50
      kernel gemm 1100 3000
)";
constexpr std::string_view kAfter = R"(
    main
      step 0 0 700
      phase "data wait" 0 100
      phase forward 100 550
      op aten::linear 100 300
      op aten::addmm 150 100
      op aten::gelu 450 150
    stream 0 7
      copy HtoD 80 20
      kernel gemm 200 150
      kernel gemm 360 150
      kernel gelu 520 80
)";

TEST(StepDifference, ListsPhasesOperatorsAndDeviceWorkByChange)
{
    const auto a = traceFromText(kBefore), b = traceFromText(kAfter);
    const auto stepsA = findSteps(*a), stepsB = findSteps(*b);
    const StepDifference found = stepDifference(*a, stepsA[0], *b, stepsB[0]);
    EXPECT_EQ(found.rows.front().name, "data wait");
    EXPECT_EQ(found.rows.front().change(), Nanoseconds(-300'000));
    for (std::size_t i = 1; i < found.rows.size(); ++i)
        EXPECT_GE(std::chrono::abs(found.rows[i - 1].change()), std::chrono::abs(found.rows[i].change()));
    EXPECT_EQ(find(found, ActivityKind::Phase, "forward")->change(), Nanoseconds(50'000));
    EXPECT_EQ(find(found, ActivityKind::Phase, "other")->a, Nanoseconds(100'000));
    EXPECT_EQ(find(found, ActivityKind::Phase, "backward"), nullptr);
    const Row* gemm = find(found, ActivityKind::Kernel, "gemm");
    ASSERT_TRUE(gemm);
    EXPECT_EQ(gemm->countA, 1); // the kernel of the next step does not count
    EXPECT_EQ(gemm->countB, 2);
    EXPECT_EQ(gemm->a, Nanoseconds(200'000));
    EXPECT_EQ(gemm->b, Nanoseconds(300'000));
    EXPECT_FALSE(gemm->isNew() || gemm->isGone());
    EXPECT_EQ(find(found, ActivityKind::GpuMemcpy, "Memcpy HtoD")->change(), Nanoseconds(0));
    EXPECT_EQ(find(found, ActivityKind::CpuOp, "aten::linear")->a, Nanoseconds(200'000)); // its self time
}

TEST(StepDifference, SaysWhatIsNewAndWhatIsGone)
{
    const auto a = traceFromText(kBefore), b = traceFromText(kAfter);
    const StepDifference found = stepDifference(*a, findSteps(*a)[0], *b, findSteps(*b)[0]);
    const Row* relu = find(found, ActivityKind::Kernel, "relu");
    ASSERT_TRUE(relu);
    EXPECT_TRUE(relu->isGone());
    EXPECT_EQ(toNs(a->slice(*relu->longestA).begin), 800'000);
    EXPECT_EQ(relu->longestB, std::nullopt);
    const Row* gelu = find(found, ActivityKind::CpuOp, "aten::gelu");
    ASSERT_TRUE(gelu);
    EXPECT_TRUE(gelu->isNew());
    EXPECT_EQ(gelu->longestA, std::nullopt);
    EXPECT_EQ(gelu->change(), Nanoseconds(150'000));
}

TEST(StepDifference, ComparesTwoStepsOfOneTrace)
{
    const auto trace = traceFromText(kBefore);
    const auto steps = findSteps(*trace);
    const StepDifference found = stepDifference(*trace, steps[0], *trace, steps[1]);
    EXPECT_EQ(find(found, ActivityKind::Kernel, "gemm")->change(), Nanoseconds(2'800'000));
    EXPECT_EQ(find(found, ActivityKind::CpuOp, "aten::linear")->change(), Nanoseconds(3'800'000));
    EXPECT_TRUE(find(found, ActivityKind::Phase, "data wait")->isGone());
}

TEST(StepDifference, EqualStepsHaveNoChange)
{
    const auto trace = traceFromText(kBefore);
    const auto steps = findSteps(*trace);
    for (const Row& row : stepDifference(*trace, steps[0], *trace, steps[0]).rows)
        EXPECT_EQ(row.change().count(), 0) << row.name;
}

TEST(StepDifference, PhasesLinkToTheirLongestSlice)
{
    const auto a = traceFromText(kBefore), b = traceFromText(kAfter);
    const StepDifference found = stepDifference(*a, findSteps(*a)[0], *b, findSteps(*b)[0]);
    const Row* forward = find(found, ActivityKind::Phase, "forward");
    EXPECT_EQ(toNs(a->slice(*forward->longestA).begin), 400'000);
    EXPECT_EQ(toNs(b->slice(*forward->longestB).begin), 100'000);
    EXPECT_EQ(find(found, ActivityKind::Phase, "other")->longestA, std::nullopt);
}

} // namespace
} // namespace profiler::analysis
