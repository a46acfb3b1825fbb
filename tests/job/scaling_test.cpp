#include "profiler/analysis/job/scaling.h"

#include "tests/job/job_fixture.h"

#include <memory>
#include <numeric>

// Throughput, efficiency and the causes of its loss, over jobs with different numbers of ranks.
using namespace job_test;
using namespace profiler::analysis;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class ScalingCurve : public testing::Test {
protected:
    /// Opens a simulated job; it stays open as long as the test.
    void add(const JobTraceOptions& options, std::int64_t batch = 0)
    {
        const fs::path folder = m_folder.path() / std::to_string(m_jobs.size());
        writeJobTraces(folder, options);
        auto job = open({folder});
        ASSERT_TRUE(job) << job.error().message();
        m_jobs.push_back(std::make_unique<profiler::job::Job>(std::move(*job)));
        const profiler::job::Job& added = *m_jobs.back();
        m_runs.push_back({.facts = {added.ranks, added.analysis},
                          .worldSize = added.worldSize,
                          .batch = batch,
                          .source = folder.string()});
    }

    test_support::TemporaryFolder m_folder;
    std::vector<std::unique_ptr<profiler::job::Job>> m_jobs;
    std::vector<ScalingRun> m_runs;
    JobTraceOptions m_options{.ranks = 2, .ranksPerHost = 8, .steps = 8, .layers = 12};
};

double lost(const ScalingPoint& point, JobTimePart part)
{
    return point.lostPartsUs[static_cast<std::size_t>(part)];
}

} // namespace

TEST_F(ScalingCurve, PartsAddUpToTheStep)
{
    add(m_options);
    const JobTime time = jobTime(m_runs.front().facts);
    EXPECT_GT(time.part(JobTimePart::Compute), 0.8 * 3 * 300 * m_options.layers);
    EXPECT_NEAR(std::accumulate(time.partsUs.begin(), time.partsUs.end(), 0.0), time.stepUs, 1e-6 * time.stepUs);
}

TEST_F(ScalingCurve, JobsOfEqualStepsScaleWithTheirRanks)
{
    m_options.ranks = 4;
    add(m_options);
    m_options.ranks = 2;
    add(m_options);
    const auto scaling = scalingOf(m_runs);
    ASSERT_TRUE(scaling) << scaling.error().message();
    ASSERT_EQ(scaling->points.size(), 2U);
    EXPECT_EQ(scaling->points[0].ranks, 2);
    EXPECT_EQ(scaling->points[0].run, 1U) << "the smallest comes first";
    EXPECT_DOUBLE_EQ(scaling->points[0].efficiency, 1);
    EXPECT_NEAR(scaling->points[1].efficiency, 1, 0.03);
    EXPECT_NEAR(scaling->points[1].speedup, 2, 0.06);
    EXPECT_FALSE(scaling->batchKnown);
    EXPECT_TRUE(hasNote(scaling->notes, "scaling.batch_unknown"));
}

TEST_F(ScalingCurve, NamesWhatTheTimeIsLostTo)
{
    add(m_options, 32);
    m_options.ranks = 4;
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {3};
    m_options.amount = 0.5;
    add(m_options, 32);
    m_options.ranks = 8;
    m_options.fault = Fault::Throttling;
    m_options.faultyRanks = {0, 1, 2, 3, 4, 5, 6, 7};
    add(m_options, 32);
    m_options.ranks = 16;
    m_options.fault = Fault::SlowLink;
    m_options.faultyRanks = {0};
    add(m_options, 32);
    const auto scaling = scalingOf(m_runs);
    ASSERT_TRUE(scaling) << scaling.error().message();
    EXPECT_TRUE(scaling->batchKnown);
    const double faultUs = 0.5 * 3 * 300 * m_options.layers;
    const ScalingPoint& late = scaling->points[1];
    EXPECT_LT(late.efficiency, 0.75);
    EXPECT_NEAR(late.lostUs, faultUs, 0.1 * faultUs);
    // Three of four ranks wait and have at that time no compute that hides the transfers of earlier buckets.
    EXPECT_NEAR(lost(late, JobTimePart::Wait) + lost(late, JobTimePart::Transfer), 0.75 * faultUs, 0.1 * faultUs);
    EXPECT_GT(lost(late, JobTimePart::Wait), 1.5 * lost(late, JobTimePart::Transfer));
    EXPECT_NEAR(lost(late, JobTimePart::DataWait), 0.25 * faultUs, 0.1 * faultUs) << "the fourth one loads";
    const ScalingPoint& slower = scaling->points[2];
    EXPECT_NEAR(lost(slower, JobTimePart::Compute), faultUs, 0.1 * faultUs);
    const ScalingPoint& link = scaling->points[3];
    EXPECT_GT(lost(link, JobTimePart::Transfer), 0.8 * link.lostUs);
    EXPECT_GT(link.lostUs, 0.5 * 900);
}

TEST_F(ScalingCurve, ADividedBatchIsLessWorkForEachRank)
{
    add(m_options, 64);
    m_options.ranks = 4;
    add(m_options, 32); // as long as with 64 samples: twice the ranks do not train faster
    const auto scaling = scalingOf(m_runs);
    ASSERT_TRUE(scaling);
    EXPECT_NEAR(scaling->points[1].efficiency, 0.5, 0.02);
    EXPECT_NEAR(scaling->points[1].speedup, 1, 0.04);
    EXPECT_NEAR(scaling->points[1].samplesPerS, scaling->points[0].samplesPerS, 0.04 * scaling->points[0].samplesPerS);
}

TEST_F(ScalingCurve, RefusesWhatIsNoCurve)
{
    add(m_options);
    EXPECT_EQ(scalingOf(m_runs).error().what.id, "scaling.one_run");
    add(m_options);
    EXPECT_EQ(scalingOf(m_runs).error().what.id, "scaling.one_size");
    m_options.ranks = 4;
    m_options.lost = {1};
    add(m_options);
    const auto scaling = scalingOf(m_runs);
    ASSERT_TRUE(scaling);
    EXPECT_TRUE(hasNote(scaling->notes, "scaling.part_recorded"));
    for (profiler::analysis::RankDigest& rank : m_jobs.front()->ranks)
        rank.hasSteps = false;
    EXPECT_EQ(scalingOf(m_runs).error().what.id, "scaling.no_steps");
}
