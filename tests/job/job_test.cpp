#include "tests/job/job_fixture.h"

#include <cmath>
#include <fstream>
#include <mutex>

using namespace job_test;
using namespace profiler::analysis;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class OpenJob : public testing::Test {
protected:
    JobTraceOptions m_options{.ranks = 4, .ranksPerHost = 2, .steps = 8, .layers = 12};
    test_support::TemporaryFolder m_folder;
};

} // namespace

TEST_F(OpenJob, FindsTheRanksAndWhatTheyShare)
{
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job) << job.error().message();
    EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(job->worldSize, 4);
    EXPECT_TRUE(job->missing.empty());
    EXPECT_TRUE(job->excluded.empty());
    EXPECT_TRUE(job->notes.empty());
    EXPECT_EQ(job->ranks[3].host, "node1");
    const JobAnalysis& analysis = job->analysis;
    EXPECT_EQ(analysis.alone, 0);
    EXPECT_EQ(analysis.mismatched, 0);
    EXPECT_EQ(analysis.matched % m_options.steps, 0); // each step has the same number of collectives
    EXPECT_TRUE(analysis.stragglers.empty());
    ASSERT_EQ(analysis.groups.size(), 1U);
    EXPECT_EQ(analysis.groups.front().role, GroupRole::Data);
    EXPECT_EQ(analysis.groups.front().size, 4);
    ASSERT_EQ(analysis.collectives.size(), 1U);
    const CollectiveUse& use = analysis.collectives.front();
    EXPECT_EQ(use.kind, CollectiveKind::AllReduce);
    EXPECT_EQ(use.bytes, (25 << 18) * 4);
    EXPECT_NEAR(use.transferUs, 900, 45); // kBucketTransfer, with jitter
    EXPECT_NEAR(use.busGbPerS, use.algorithmGbPerS * 1.5, 1e-9);
}

TEST_F(OpenJob, DividesStepsExclusively)
{
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    for (const RankDigest& rank : job->ranks)
        for (const RankStep& step : rank.steps) {
            profiler::Nanoseconds sum{};
            for (const profiler::Nanoseconds part : step.parts)
                sum += part;
            EXPECT_EQ(sum, step.range.duration());
        }
}

TEST_F(OpenJob, TellsTransferFromWaiting)
{
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {2};
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    const double lateUs = m_options.amount * 3 * 300 * m_options.layers;
    for (std::size_t i = 0; i < 4; ++i) {
        const JobRank& rank = job->analysis.ranks[i];
        // The other ranks wait for the first of three all-reduces by the delay, and for each of the others, which are
        // queued behind it, by the backward pass of four layers minus the transfer.
        EXPECT_NEAR(rank.waitUs, i == 2 ? 0 : lateUs + 2 * (4 * 600 - 900), 0.1 * lateUs) << i;
        EXPECT_NEAR(rank.transferUs, job->analysis.ranks[0].transferUs, 1e-6);
    }
    ASSERT_EQ(job->analysis.stragglers.size(), 1U);
    EXPECT_NEAR(job->analysis.stragglers.front().lateUs, lateUs, 0.1 * lateUs);
    EXPECT_TRUE(job->analysis.stragglers.front().always);
    EXPECT_EQ(job->analysis.slowest, 2U);
}

TEST_F(OpenJob, TakesRanksFromTheNamesOfFilesIfTheContentHasNone)
{
    m_options.distributedInfo = false;
    for (const char* name : {"rank{}.json", "trace_rank-{}.json", "rank_{}_trace.json"}) {
        test_support::TemporaryFolder folder;
        m_options.name = name;
        writeJobTraces(folder.path(), m_options);
        const auto job = open({folder.path()});
        ASSERT_TRUE(job) << name;
        EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 1, 2, 3})) << name;
        EXPECT_FALSE(hasNote(job->notes, "job.rank.assumed")) << name;
    }
}

TEST_F(OpenJob, PrefersTheContentToTheName)
{
    m_options.name = "node0_{}.1712188800000.pt.trace.json";
    auto files = writeJobTraces(m_folder.path(), m_options);
    fs::rename(files[0], m_folder.path() / "rank7.json");
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(OpenJob, NumbersRanksThatNothingNames)
{
    m_options.distributedInfo = false;
    m_options.name = "trace_{}.json";
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_TRUE(hasNote(job->notes, "job.rank.assumed"));
}

TEST_F(OpenJob, ReportsRanksWithoutAFile)
{
    m_options.lost = {1, 3};
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->missing, (std::vector<std::int64_t>{1, 3}));
    EXPECT_GT(job->analysis.matched, 0);
}

TEST_F(OpenJob, ExcludesDamagedRanksAndKeepsTheOthers)
{
    const auto files = writeJobTraces(m_folder.path(), m_options);
    fs::resize_file(files[1], fs::file_size(files[1]) / 2);
    fs::resize_file(files[2], 0);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(job->missing, (std::vector<std::int64_t>{1, 2}));
    ASSERT_EQ(job->excluded.size(), 2U);
    EXPECT_EQ(job->excluded[0].why.id, "job.rank.cut");
    EXPECT_EQ(job->excluded[0].rank, 1);
    EXPECT_EQ(job->excluded[1].why.id, "file.empty");
}

TEST_F(OpenJob, FailsIfNoRankIsUsable)
{
    for (const fs::path& file : writeJobTraces(m_folder.path(), m_options))
        fs::resize_file(file, 100);
    const auto job = open({m_folder.path()});
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().what.id, "job.nothing_usable");
}

TEST_F(OpenJob, KeepsTheLastTraceOfARank)
{
    m_options.steps = 4;
    writeJobTraces(m_folder.path() / "iteration_10", m_options);
    m_options.firstStep = 100;
    writeJobTraces(m_folder.path() / "iteration_100", m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(numbers(*job), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(job->excluded.size(), 4U);
    EXPECT_EQ(job->excluded.front().why.id, "job.rank.duplicate");
    EXPECT_GE(job->analysis.steps.front(), 100);
}

TEST_F(OpenJob, ExcludesRanksOfAnotherJob)
{
    writeJobTraces(m_folder.path(), m_options);
    m_options.ranks = 2;
    m_options.name = "other{}.json";
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->worldSize, 4);
    EXPECT_EQ(job->ranks.size(), 4U);
    ASSERT_EQ(job->excluded.size(), 2U);
    EXPECT_EQ(job->excluded.front().why.id, "job.other_job");
}

TEST_F(OpenJob, AnalysesTheStepsThatMostRanksRecorded)
{
    writeJobTraces(m_folder.path(), m_options); // steps 10 to 17
    test_support::TemporaryFolder later;
    m_options.firstStep = 14;
    const auto files = writeJobTraces(later.path(), m_options);
    fs::copy_file(files[3], m_folder.path() / "rank3.json", fs::copy_options::overwrite_existing);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_TRUE(hasNote(job->analysis.notes, "job.windows") || job->analysis.steps.front() >= 14);
    for (const std::int64_t step : job->analysis.steps)
        EXPECT_LT(step, 18);
    EXPECT_FALSE(job->analysis.steps.empty());
}

TEST_F(OpenJob, LabelsTensorAndDataParallelGroups)
{
    m_options.ranks = 8;
    m_options.tensorParallel = 2;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    ASSERT_EQ(job->analysis.groups.size(), 2U);
    for (const GroupUse& use : job->analysis.groups) {
        EXPECT_EQ(use.size, use.role == GroupRole::Tensor ? 2 : 4);
        EXPECT_EQ(use.groups, use.role == GroupRole::Tensor ? 4 : 2);
    }
    EXPECT_NE(job->analysis.groups[0].role, job->analysis.groups[1].role);
}

TEST_F(OpenJob, ComparesTheBandwidthWithTheBestOfTheLink)
{
    m_options.ranks = 8;
    m_options.ranksPerHost = 2;
    m_options.tensorParallel = 2;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    ASSERT_EQ(job->analysis.collectives.size(), 2U);
    for (const CollectiveUse& use : job->analysis.collectives) {
        const bool isTensor = use.role == GroupRole::Tensor;
        EXPECT_EQ(use.ranks, isTensor ? 2 : 4);
        EXPECT_EQ(use.link, isTensor ? LinkKind::WithinHost : LinkKind::BetweenHosts);
        // 2²⁰ floats in 60 µs; 25 × 2¹⁸ floats in 900 µs, of which each link carries 2 × 3 / 4.
        EXPECT_NEAR(use.busGbPerS, isTensor ? (4 << 20) / 60e3 : 1.5 * (25 << 20) / 900e3, 0.05 * use.busGbPerS);
        EXPECT_GE(use.linkGbPerS, use.busGbPerS);
        EXPECT_DOUBLE_EQ(use.linkGbPerS, use.bestBusGbPerS) << "the only collective on such links";
    }
}

TEST_F(OpenJob, FindsTheBubblesOfAPipeline)
{
    m_options.ranks = 8;
    m_options.pipelineStages = 4;
    m_options.microBatches = 8;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    const JobAnalysis& analysis = job->analysis;
    ASSERT_TRUE(analysis.pipeline);
    EXPECT_EQ(analysis.pipeline->stages, 4);
    // After its last forward pass, a stage waits until the later stages have passed that micro-batch forward and back.
    const double passesUs = 3 * 300.0 * m_options.layers / 4;
    double share = 0;
    for (std::size_t rank = 0; rank < 8; ++rank) {
        const std::int64_t stage = static_cast<std::int64_t>(rank) / 2;
        EXPECT_EQ(analysis.ranks[rank].stage, stage);
        const double expectedUs = static_cast<double>(3 - stage) * passesUs;
        // Besides, each of the messages between two micro-batches takes some time.
        EXPECT_GT(analysis.ranks[rank].bubbleUs, 0.98 * expectedUs) << rank;
        EXPECT_LT(analysis.ranks[rank].bubbleUs, expectedUs + 0.3 * passesUs) << rank;
        share += expectedUs / analysis.ranks[rank].stepUs / 8;
    }
    EXPECT_GT(share, 0.1);
    EXPECT_NEAR(analysis.pipeline->bubble, share, 0.03);
    EXPECT_TRUE(std::ranges::any_of(analysis.groups, [](const GroupUse& use) {
        return use.role == GroupRole::Pipeline && use.size == 4 && use.groups == 2;
    }));
}

TEST_F(OpenJob, WithoutPointToPointCallsThereIsNoPipeline)
{
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_FALSE(job->analysis.pipeline);
    EXPECT_EQ(job->analysis.ranks[0].bubbleUs, 0);
    EXPECT_EQ(job->analysis.ranks[0].stage, -1);
}

TEST_F(OpenJob, MeasuresHowUnevenlyWorkIsDivided)
{
    m_options.fault = Fault::SlowCompute;
    m_options.faultyRanks = {1};
    m_options.tokenSkew = 1;
    writeJobTraces(m_folder.path(), m_options);
    const auto uneven = open({m_folder.path()});
    ASSERT_TRUE(uneven);
    // One of four ranks computes a quarter longer, and another exchanges twice the bytes.
    EXPECT_NEAR(uneven->analysis.computeImbalance, 1.25 / (4.25 / 4) - 1, 0.03);
    EXPECT_NEAR(uneven->analysis.exchangeImbalance, 2 / (5.0 / 4) - 1, 1e-6);
    EXPECT_TRUE(std::ranges::any_of(uneven->analysis.groups,
                                    [](const GroupUse& use) { return use.role == GroupRole::Expert; }));
    m_options.fault = Fault::None;
    m_options.tokenSkew = 0;
    const test_support::TemporaryFolder other;
    writeJobTraces(other.path(), m_options);
    const auto even = open({other.path()});
    ASSERT_TRUE(even);
    EXPECT_LT(even->analysis.computeImbalance, 0.02);
    EXPECT_EQ(even->analysis.exchangeImbalance, 0);
}

TEST_F(OpenJob, CountsTheExchangeOfGradients)
{
    m_options.parameterExchanges = 50;
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    ASSERT_TRUE(job->analysis.gradients);
    EXPECT_DOUBLE_EQ(job->analysis.gradients->calls, 50);
    EXPECT_EQ(job->analysis.gradients->medianBytes, (1 << 12) * 4);
    EXPECT_NEAR(job->analysis.gradients->exposedUs, job->analysis.gradients->us, 1);
}

TEST_F(OpenJob, MatchesCollectivesWithoutRecordedGroups)
{
    m_options.groups = false;
    m_options.fault = Fault::SlowHost;
    m_options.faultyRanks = {1};
    writeJobTraces(m_folder.path(), m_options);
    const auto job = open({m_folder.path()});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->analysis.alone, 0);
    ASSERT_EQ(job->analysis.stragglers.size(), 1U);
    EXPECT_EQ(job->analysis.stragglers.front().rank, 1U);
    EXPECT_EQ(job->analysis.stragglers.front().cause, StragglerCause::SlowHost);
}

TEST_F(OpenJob, StopsWhenAsked)
{
    writeJobTraces(m_folder.path(), m_options);
    std::stop_source stop;
    stop.request_stop();
    profiler::job::JobOptions options;
    options.stop = stop.get_token();
    const auto job = open({m_folder.path()}, options);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().code, profiler::Error::Code::Cancelled);
}

TEST_F(OpenJob, ShowsTheRanksThatHaveBeenReadMeanwhile)
{
    writeJobTraces(m_folder.path(), m_options);
    profiler::job::JobOptions options;
    options.threads = 1;
    options.previewAfter = {};
    std::vector<profiler::job::Job> parts;
    options.preview = [&](profiler::job::Job part) { parts.push_back(std::move(part)); };
    const auto job = open({m_folder.path()}, options);
    ASSERT_TRUE(job);
    ASSERT_FALSE(parts.empty());
    const auto& part = parts.front();
    EXPECT_LT(part.ranks.size(), job->ranks.size());
    EXPECT_EQ(part.worldSize, job->worldSize);
    EXPECT_EQ(part.analysis.steps, job->analysis.steps);
    ASSERT_EQ(part.analysis.ranks.size(), part.ranks.size());
    EXPECT_EQ(part.ranks.front().file, job->ranks.front().file);
    EXPECT_EQ(part.files.files[part.fileOf.front()], job->ranks.front().file);
}

TEST_F(OpenJob, ShowsEachTraceOnceAndReportsProgress)
{
    writeJobTraces(m_folder.path(), m_options);
    std::mutex mutex;
    std::vector<std::size_t> seen;
    double share = 0;
    profiler::job::JobOptions options;
    options.visit = [&](const profiler::job::LoadedRank& rank) {
        const std::scoped_lock lock(mutex);
        seen.push_back(rank.file);
        EXPECT_GT(rank.trace->sliceCount(), 0U);
    };
    options.progress = [&](double done) { share = done; };
    ASSERT_TRUE(open({m_folder.path()}, options));
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3}));
    EXPECT_EQ(share, 1);
}
