#include "tests/job/job_fixture.h"

#include <cmath>

using namespace job_test;
using namespace profiler::analysis;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class ClocksOfAJob : public testing::Test {
protected:
    /// The difference that the alignment finds between the clocks of the last and the first rank, in µs.
    [[nodiscard]] double foundUs(const profiler::job::Job& job) const
    {
        const auto& ranks = job.analysis.clock.ranks;
        return std::chrono::duration<double, std::micro>(ranks.front().correction - ranks.back().correction).count();
    }

    JobTraceOptions m_options{.ranks = 4, .ranksPerHost = 2, .steps = 16, .layers = 12};
    test_support::TemporaryFolder m_folder;
};

} // namespace

TEST_F(ClocksOfAJob, ThatAgreesStays)
{
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_TRUE(job->analysis.clock.refined);
    EXPECT_NEAR(foundUs(*job), 0, 5); // ranks leave a collective within 4 µs
    EXPECT_LT(job->analysis.clock.error, std::chrono::microseconds(5));
    for (const RankClock& clock : job->analysis.clock.ranks) {
        EXPECT_TRUE(clock.steps.empty());
        EXPECT_EQ(clock.driftPpm, 0);
    }
}

TEST_F(ClocksOfAJob, IsAlignedByCollectives)
{
    for (const std::int64_t offset : {2'345'678LL, -17'000'000LL, 3 * 3600 * 1'000'000'000LL}) {
        test_support::TemporaryFolder folder;
        m_options.clockOffsetNs = {0, offset};
        writeJobTraces(folder.path(), m_options);
        const auto job = open({folder.path()});
        ASSERT_TRUE(job);
        EXPECT_NEAR(foundUs(*job), static_cast<double>(offset) / 1000, 5) << offset;
        EXPECT_LT(job->analysis.clock.error, std::chrono::microseconds(5));
        EXPECT_TRUE(job->analysis.stragglers.empty());
    }
}

TEST_F(ClocksOfAJob, IsAlignedAcrossGroupsThatShareNoRank)
{
    // Ranks 0 and 3 are never in one group of four ranks in two dimensions: they are connected through 1 or 2.
    m_options.tensorParallel = 2;
    m_options.clockOffsetNs = {0, 5'000'000};
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_NEAR(foundUs(*job), 5000, 5);
}

TEST_F(ClocksOfAJob, ThatJumpsIsReportedAndCorrected)
{
    m_options.clockJumpNs = 40'000'000;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_TRUE(hasNote(job->analysis.notes, "job.clock_step"));
    for (std::size_t i = 0; i < 4; ++i) {
        const RankClock& clock = job->analysis.clock.ranks[i];
        ASSERT_EQ(clock.steps.size(), i < 2 ? 0U : 1U) << i;
        if (i >= 2) {
            EXPECT_NEAR(static_cast<double>(clock.steps.front().by.count()) / 1e6, 40, 0.1);
        }
        EXPECT_LT(clock.error, std::chrono::microseconds(10));
    }
}

TEST_F(ClocksOfAJob, ThatDriftsIsCorrected)
{
    m_options.driftPpm = 1000;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    const auto& clocks = job->analysis.clock.ranks;
    EXPECT_NEAR(clocks.back().driftPpm - clocks.front().driftPpm, 1000, 100);
    EXPECT_LT(job->analysis.clock.error, std::chrono::microseconds(20));
    // The same collective ends at the same time of the job.
    const auto endOf = [&](std::size_t rank, std::size_t call) {
        return clocks[rank](job->ranks[rank].communication.calls[call].range.end);
    };
    for (const std::size_t call : {std::size_t{0}, job->ranks[0].communication.calls.size() - 1})
        EXPECT_NEAR(static_cast<double>((endOf(3, call) - endOf(0, call)).count()), 0, 40'000) << call;
}
