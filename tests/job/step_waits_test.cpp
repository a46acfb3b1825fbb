#include "tests/job/job_fixture.h"

#include "profiler/analysis/job/matched_collectives.h"

using namespace job_test;
using namespace profiler::analysis;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class StepWaits : public testing::Test {
protected:
    profiler::job::Job opened()
    {
        writeJobTraces(m_folder.path(), m_options);
        auto job = open({m_folder.path()});
        if (!job)
            throw std::runtime_error(job.error().message());
        return std::move(*job);
    }
    static std::vector<StepWait> waits(const profiler::job::Job& job, std::int64_t step)
    {
        return stepWaits(job.ranks, job.analysis.calls, step);
    }

    JobTraceOptions m_options{.ranks = 4, .ranksPerHost = 2, .steps = 8, .layers = 12};
    test_support::TemporaryFolder m_folder;
};

} // namespace

TEST_F(StepWaits, NameTheLastRankAndThoseThatWait)
{
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {2};
    m_options.faultySteps = {4};
    const auto job = opened();
    const double delayUs = m_options.amount * 3 * 300 * m_options.layers;
    const std::int64_t late = m_options.firstStep + 4;
    const auto found = waits(job, late);
    ASSERT_EQ(found.size(), 3U); // all-reduces of a step
    const StepWait& longest = found.front();
    EXPECT_EQ(longest.kind, CollectiveKind::AllReduce);
    EXPECT_EQ(longest.group, "dp0");
    EXPECT_EQ(longest.ranks, 4);
    EXPECT_EQ(longest.last, 2U);
    EXPECT_NEAR(longest.lateUs, delayUs, 0.1 * delayUs);
    EXPECT_GE(longest.longestUs, longest.lateUs);
    EXPECT_NEAR(longest.waitUs, 3 * delayUs, 0.3 * delayUs);
    std::vector<std::size_t> waiting = longest.waiting;
    std::ranges::sort(waiting);
    EXPECT_EQ(waiting, (std::vector<std::size_t>{0, 1, 3}));
    EXPECT_GE(found[0].waitUs, found[1].waitUs);
    EXPECT_GE(found[1].waitUs, found[2].waitUs);
    // In another step no rank is as late.
    for (const StepWait& wait : waits(job, late - 1))
        EXPECT_LT(wait.lateUs, 0.3 * delayUs);
}

TEST_F(StepWaits, AreThoseOfEachGroup)
{
    m_options.ranks = 8;
    m_options.tensorParallel = 2;
    m_options.fault = Fault::SlowCompute;
    m_options.faultyRanks = {5};
    const auto job = opened();
    const auto found = waits(job, m_options.firstStep + 3);
    const auto tensor = std::ranges::find(found, "tp2", &StepWait::group); // ranks 4 and 5
    ASSERT_NE(tensor, found.end());
    EXPECT_EQ(tensor->ranks, 2);
    EXPECT_EQ(tensor->last, 5U);
    EXPECT_EQ(tensor->waiting, (std::vector<std::size_t>{4}));
}

TEST_F(StepWaits, AreNoneInAStepThatNobodyRecorded)
{
    const auto job = opened();
    EXPECT_FALSE(waits(job, m_options.firstStep + 1).empty());
    EXPECT_TRUE(waits(job, m_options.firstStep + m_options.steps).empty());
}
