#include "profiler/job/job_digests.h"
#include "tests/job/job_fixture.h"

#include <random>

using namespace job_test;
using namespace profiler::analysis;
using profiler::job::decodeJob;
using profiler::job::encodeJob;

namespace {

class JobDigests : public testing::Test {
protected:
    JobDigests()
    {
        const auto files = test_support::writeJobTraces(m_folder.path(), {.ranks = 5,
                                                                          .ranksPerHost = 2,
                                                                          .steps = 8,
                                                                          .layers = 12,
                                                                          .fault = test_support::Fault::SlowLoader,
                                                                          .faultyRanks = {2}});
        fs::resize_file(files.back(), 100);
        job = open({m_folder.path()}).value();
    }
    profiler::job::Job job; ///< with a straggler, and with a damaged file

private:
    test_support::TemporaryFolder m_folder;
};

} // namespace

TEST_F(JobDigests, AreTheSameJobOnAnotherMachine)
{
    auto read = decodeJob(encodeJob(job));
    ASSERT_TRUE(read) << read.error().message();
    read->analysis = analyseJob(read->ranks);
    EXPECT_EQ(numbers(*read), numbers(job));
    EXPECT_EQ(read->files.files, job.files.files);
    EXPECT_EQ(read->fileOf, job.fileOf);
    EXPECT_EQ(read->worldSize, job.worldSize);
    EXPECT_EQ(read->missing, job.missing);
    EXPECT_EQ(read->notes, job.notes);
    ASSERT_EQ(read->excluded.size(), 1U);
    EXPECT_EQ(read->excluded.front().file, job.excluded.front().file);
    EXPECT_EQ(read->excluded.front().why, job.excluded.front().why);
    const JobAnalysis &far = read->analysis, &near = job.analysis;
    EXPECT_EQ(far.steps, near.steps);
    EXPECT_EQ(far.stepUs, near.stepUs);
    EXPECT_EQ(far.efficiency, near.efficiency);
    EXPECT_EQ(far.matched, near.matched);
    EXPECT_EQ(far.clock.error, near.clock.error);
    EXPECT_EQ(far.groups.front().exposedUs, near.groups.front().exposedUs);
    EXPECT_EQ(far.collectives.front().busGbPerS, near.collectives.front().busGbPerS);
    ASSERT_EQ(far.stragglers.size(), 1U);
    EXPECT_EQ(far.stragglers.front().cause, StragglerCause::SlowLoader);
    EXPECT_EQ(far.stragglers.front().reason, near.stragglers.front().reason);
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        EXPECT_EQ(read->ranks[i].host, job.ranks[i].host);
        EXPECT_EQ(read->ranks[i].events, job.ranks[i].events);
        EXPECT_EQ(far.ranks[i].lateByStepUs, near.ranks[i].lateByStepUs);
        const auto waits = stepWaits(read->ranks, far.calls, far.steps.front());
        EXPECT_EQ(waits.size(), stepWaits(job.ranks, near.calls, near.steps.front()).size());
    }
}

TEST_F(JobDigests, NumbersThatNoJobHasAreRefused)
{
    const auto isRefused = [this](auto change) {
        auto changed = job;
        change(changed);
        const auto read = decodeJob(encodeJob(changed));
        return !read && read.error().what.id == "job.digests";
    };
    EXPECT_FALSE(isRefused([](auto&) {}));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks.clear(); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.fileOf.back() = one.files.files.size(); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.fileOf.pop_back(); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.worldSize = std::int64_t{1} << 40; }));
    EXPECT_TRUE(isRefused([](auto& one) { std::swap(one.ranks[0], one.ranks[1]); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].rank = -1; }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].steps.clear(); }));
    EXPECT_TRUE(isRefused([](auto& one) { std::swap(one.ranks[0].range.begin, one.ranks[0].range.end); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].toRealtime = profiler::Nanoseconds::max(); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].busy = std::nan(""); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].work.front().us.pop_back(); }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].work.front().us.front() = -1; }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].communication.calls.front().group = 99; }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].communication.calls.front().step = 8; }));
    EXPECT_TRUE(isRefused([](auto& one) {
        auto& call = one.ranks[0].communication.calls.front();
        call.exposed = call.range.duration() + profiler::Nanoseconds(1);
    }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].steps.front().index = INT64_MAX; }));
    EXPECT_TRUE(isRefused([](auto& one) { one.ranks[0].steps.front().parts[0] = profiler::Nanoseconds(-1); }));
}

TEST_F(JobDigests, DamagedBytesAreRefusedOrGiveAJob)
{
    const std::string bytes = encodeJob(job);
    EXPECT_EQ(decodeJob("").error().what.id, "job.digests");
    EXPECT_EQ(decodeJob(bytes + "x").error().what.id, "job.digests");
    std::mt19937 random(1);
    int refused = 0;
    for (int round = 0; round < 1000; ++round) {
        std::string damaged = bytes;
        if (round % 4 == 0)
            damaged.resize(random() % damaged.size());
        for (int i = 0; round % 4 != 0 && i < 1 + round % 3; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        const auto read = decodeJob(damaged);
        if (!read) {
            ++refused;
            continue;
        }
        const JobAnalysis analysis = analyseJob(read->ranks);
        ASSERT_EQ(analysis.ranks.size(), read->ranks.size());
        for (const std::int64_t step : analysis.steps)
            stepWaits(read->ranks, analysis.calls, step);
    }
    EXPECT_GE(refused, 250);
    // A count that the bytes cannot hold.
    EXPECT_FALSE(decodeJob("stepscope job 1\n\xff\xff\xff\xff\xff\xff\xff\x7f"));
}
