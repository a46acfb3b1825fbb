#include "tests/job/job_fixture.h"

#include "profiler/job/rank_merge.h"

#include <set>

using namespace job_test;
using namespace profiler;
using namespace profiler::analysis;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class MergedRanks : public testing::Test {
protected:
    void openWritten()
    {
        writeJobTraces(m_folder.path(), m_options);
        auto job = open({m_folder.path()});
        ASSERT_TRUE(job) << job.error().message();
        m_job = std::move(*job);
    }
    /// Collectives of one rank in the merged trace, by start.
    std::vector<Slice> collectives(const Trace& trace, std::size_t rank) const
    {
        std::vector<Slice> found;
        for (const Slice& slice : trace.ofKind(ActivityKind::Kernel))
            if (trace.name(slice).starts_with("nccl") &&
                trace.track(slice.id.track).processName == job::mergedName(m_job.ranks[rank]))
                found.push_back(slice);
        return found;
    }

    JobTraceOptions m_options{.ranks = 4, .ranksPerHost = 2, .steps = 6, .layers = 12};
    test_support::TemporaryFolder m_folder;
    job::Job m_job;
};

} // namespace

TEST_F(MergedRanks, AreProcessesInTheGivenOrder)
{
    openWritten();
    const std::vector<std::size_t> order{2, 0, 3};
    const auto trace = job::mergeRanks(m_job, order);
    ASSERT_TRUE(trace) << trace.error().message();
    std::map<std::string, std::set<std::int64_t>> processes;
    std::map<std::string, std::int32_t> places;
    std::set<DeviceId> devices;
    for (const Track& track : (*trace)->tracks()) {
        processes[track.processName].insert(track.pid);
        places[track.processName] = track.processSortIndex;
        if (track.kind == TrackKind::Stream)
            devices.insert(track.device);
    }
    EXPECT_EQ(places, (std::map<std::string, std::int32_t>{
                          {"rank 2 on node1", 0}, {"rank 0 on node0", 1}, {"rank 3 on node1", 2}}));
    std::set<std::int64_t> pids;
    for (const auto& [name, own] : processes) {
        EXPECT_EQ(own.size(), 1U) << name;
        pids.insert(own.begin(), own.end());
    }
    EXPECT_EQ(pids.size(), 3U);
    EXPECT_EQ(devices.size(), 3U); // each host counts from 0
    EXPECT_EQ((*trace)->devices().size(), 3U);
    std::uint64_t events = 0;
    for (const std::size_t rank : order)
        events += m_job.ranks[rank].events;
    EXPECT_EQ((*trace)->sliceCount(), events);
}

TEST_F(MergedRanks, HaveTheClockOfTheJob)
{
    m_options.clockOffsetNs = {0, 7'000'000}; // node1 is 7 ms ahead
    openWritten();
    const std::vector<std::size_t> all{0, 1, 2, 3};
    const auto trace = job::mergeRanks(m_job, all);
    ASSERT_TRUE(trace);
    const auto first = collectives(**trace, 0), last = collectives(**trace, 3);
    ASSERT_EQ(first.size(), 18U);
    ASSERT_EQ(last.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_LT(std::abs((first[i].end() - last[i].end()).count()), 20'000) << i;
}

TEST_F(MergedRanks, KeepWhatConnectsTheirSlices)
{
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {1};
    openWritten();
    const std::vector<std::size_t> all{0, 1, 2, 3};
    const auto trace = job::mergeRanks(m_job, all);
    ASSERT_TRUE(trace);
    // Launches stay within their rank, although each rank counts its calls from the same number.
    std::size_t launches = 0;
    for (const Slice& kernel : (*trace)->ofKind(ActivityKind::Kernel))
        for (const Flow& flow : (*trace)->flowsOf(kernel.id))
            if (flow.kind == FlowKind::Launch) {
                ++launches;
                EXPECT_EQ((*trace)->track(flow.from.track).pid, (*trace)->track(flow.to.track).pid);
            }
    EXPECT_EQ(launches, (*trace)->ofKind(ActivityKind::Kernel).size());
    // The first all-reduce of a step: rank 1 is last, and arrows lead from it to the others.
    const auto late = collectives(**trace, 1);
    ASSERT_FALSE(late.empty());
    std::set<std::string> waiting;
    for (const Flow& flow : (*trace)->flowsOf(late.front().id))
        if (flow.kind == FlowKind::Async) {
            EXPECT_EQ(flow.from, late.front().id);
            waiting.insert((*trace)->track(flow.to.track).processName);
        }
    EXPECT_EQ(waiting, (std::set<std::string>{"rank 0 on node0", "rank 2 on node1", "rank 3 on node1"}));
}

TEST_F(MergedRanks, AreLimitedToStepsAroundTheChosenOne)
{
    openWritten();
    const std::vector<std::size_t> all{0, 1, 2, 3};
    const auto whole = job::mergeRanks(m_job, all);
    ASSERT_TRUE(whole);
    EXPECT_FALSE(hasNote((*whole)->captureStats().notes, "job.merged_part"));
    job::MergeOptions options;
    options.mostSlices = (*whole)->sliceCount() / 3;
    options.step = m_job.analysis.steps.size() - 1;
    const auto part = job::mergeRanks(m_job, all, options);
    ASSERT_TRUE(part);
    EXPECT_TRUE(hasNote((*part)->captureStats().notes, "job.merged_part"));
    EXPECT_LT((*part)->sliceCount(), (*whole)->sliceCount() / 2);
    EXPECT_EQ((*part)->range().end, (*whole)->range().end);
}

TEST_F(MergedRanks, StopWhenAsked)
{
    openWritten();
    std::stop_source stop;
    job::MergeOptions options;
    options.stop = stop.get_token();
    options.progress = [&](double) { stop.request_stop(); };
    const std::vector<std::size_t> all{0, 1, 2, 3};
    const auto trace = job::mergeRanks(m_job, all, options);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Error::Code::Cancelled);
}

TEST_F(MergedRanks, ReportAFileThatIsGone)
{
    openWritten();
    std::filesystem::remove(m_job.files.files[2]);
    const std::vector<std::size_t> all{0, 1, 2, 3};
    const auto trace = job::mergeRanks(m_job, all);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Error::Code::NotFound);
}
