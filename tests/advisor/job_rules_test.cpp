// Rules that answer for all ranks of a job: the exchange of gradients, and how the ranks work together.
#include "advisor/rule.h"
#include "profiler/analysis/facts.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using namespace profiler::analysis;
using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using testing::DoubleNear;

/// A job of two ranks with steps of 1 ms, in which gradients of data parallelism are exchanged.
class JobRules : public testing::Test {
protected:
    JobRules()
    {
        for (std::int64_t number = 0; number < 2; ++number) {
            RankDigest& digest = m_ranks.emplace_back();
            digest.rank = number;
            digest.hasSteps = true;
            JobRank& rank = m_job.ranks.emplace_back();
            rank.stepUs = 1000;
            rank.exposedUs = rank.transferUs = 300;
        }
        m_job.stepUs = 1000;
        m_job.groups.push_back({.role = GroupRole::Data, .groups = 1, .size = 2, .exposedUs = 300, .transferUs = 300});
        m_job.gradients = GradientExchange{
            .calls = 4, .us = 300, .exposedUs = 300, .medianBytes = 1 << 20, .sizes = {{1 << 20, 2}, {1 << 18, 2}}};
    }

    /// @param text  the trace of a rank
    [[nodiscard]] Advice judge(std::string_view key,
                               const std::string& text = "main\nrepeat 10 every 1000\nstep 0 0 "
                                                         "1000\nphase backward 100 400\nend\n") const
    {
        const auto trace = test_support::traceFromText(text);
        const Facts facts = analyse(*trace);
        const JobFacts job{m_ranks, m_job};
        for (const advisor::RuleAdvice& row : advisor::advise(*trace, facts, nullptr, {}, &job))
            if (row.id == key)
                return row.advice;
        ADD_FAILURE() << "no rule " << key;
        return {};
    }

    std::vector<RankDigest> m_ranks;
    JobAnalysis m_job;
};

/// Two backward passes in each step.
const std::string kAccumulating = "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase backward 100 300\n"
                                  "phase backward 500 300\nend\n";

} // namespace

TEST_F(JobRules, BucketsFireForManyExposedAllReduces)
{
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.job_few"));
    m_job.gradients->calls = 41;
    const Advice advice = judge("comm.buckets");
    EXPECT_EQ(advice.state, State::Fires);
    EXPECT_THAT(advice.reason, HasId("comm.buckets.job"));
    EXPECT_THAT(advice.reason, HasNumber("kernels", 41));
    EXPECT_THAT(advice.reason, HasNumber("size", 1 << 20));
    EXPECT_THAT(advice.whyNoPrediction, HasNumber("time", 300));
    EXPECT_DOUBLE_EQ(advice.timeShare, 0.3);
    m_job.gradients->medianBytes = 0;
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.job_sizes_unknown"));
    m_job.gradients->calls = 39;
    EXPECT_EQ(judge("comm.buckets").state, State::Silent);
}

TEST_F(JobRules, BucketsAreSilentIfTheExchangeIsHiddenOrCheap)
{
    m_job.gradients->calls = 60;
    m_job.gradients->exposedUs = 0.89 * 300;
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.overlapped"));
    m_job.gradients->us = m_job.gradients->exposedUs = 19;
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.cheap"));
    m_job.gradients.reset();
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.no_all_reduce"));
}

TEST_F(JobRules, BucketsCannotTellWithoutSteps)
{
    m_ranks[1].hasSteps = false;
    EXPECT_EQ(judge("comm.buckets").state, State::CannotTell);
    m_job.gradients->exposedUs = 5;
    EXPECT_THAT(judge("comm.buckets").reason, HasId("comm.buckets.little_without_steps"));
}

TEST_F(JobRules, RanksThatReplicateTheModelAreNamed)
{
    m_job.groups.push_back({.role = GroupRole::Pipeline, .groups = 1, .size = 2});
    Advice advice = judge("parallel.kind");
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason, HasId("parallel.kind.job"));
    EXPECT_THAT(advice.reason, HasText("roles", "data, pipeline"));
    m_ranks[1].replicates = true;
    advice = judge("parallel.kind");
    EXPECT_EQ(advice.state, State::Fires);
    EXPECT_THAT(advice.reason, HasId("parallel.kind.some_ranks"));
    EXPECT_THAT(advice.reason, HasText("list", "1"));
    m_ranks[1].replicates = false;
    m_job.groups.clear();
    EXPECT_THAT(judge("parallel.kind").reason, HasId("parallel.kind.ranks"));
}

TEST_F(JobRules, AccumulationExchangesLessOften)
{
    Advice advice = judge("gradient.accumulation");
    EXPECT_EQ(advice.state, State::Fires);
    EXPECT_THAT(advice.reason, HasId("gradient.accumulation.exchanges"));
    EXPECT_THAT(advice.whyNoPrediction, HasNumber("time", 150));
    m_job.groups[0].exposedUs = 99;
    EXPECT_THAT(judge("gradient.accumulation").reason, testing::Not(HasId("gradient.accumulation.exchanges")));
}

TEST_F(JobRules, AccumulationWithoutNoSyncIsFound)
{
    const Advice advice = judge("gradient.accumulation", kAccumulating);
    EXPECT_EQ(advice.state, State::Fires);
    EXPECT_THAT(advice.reason, HasId("gradient.accumulation.every_pass"));
    EXPECT_THAT(advice.reason, HasNumber("passes", 2));
    EXPECT_THAT(advice.whyNoPrediction, HasNumber("time", DoubleNear(150, 1e-9))) << "of one of two passes";
    EXPECT_FALSE(advice.toggle);
    m_job.groups[0].exposedUs = 19;
    EXPECT_NE(judge("gradient.accumulation", kAccumulating).state, State::Fires);
}

TEST_F(JobRules, AJobThatExchangesOncePerStepAccumulatesAlready)
{
    m_job.gradients->sizes = {{1 << 20, 2}, {1 << 18, 1}}; // the small bucket only once
    EXPECT_THAT(judge("gradient.accumulation", kAccumulating).reason, HasId("gradient.accumulation.exchanges"));
    m_job.groups[0].exposedUs = 50;
    const Advice advice = judge("gradient.accumulation", kAccumulating);
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason, HasId("gradient.accumulation.once"));
    EXPECT_THAT(advice.reason, HasNumber("passes", 2));
}

} // namespace advisor_test
