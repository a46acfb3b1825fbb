#include "tests/job/job_fixture.h"

#include <map>
#include <random>

using namespace job_test;
using namespace profiler::analysis;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

StragglerCause causeOf(Fault fault)
{
    switch (fault) {
    case Fault::SlowCompute:
        return StragglerCause::SlowCompute;
    case Fault::Throttling:
        return StragglerCause::Throttling;
    case Fault::SlowHost:
        return StragglerCause::SlowHost;
    case Fault::SlowLoader:
        return StragglerCause::SlowLoader;
    case Fault::GarbageCollection:
        return StragglerCause::GarbageCollection;
    case Fault::SlowLink:
        return StragglerCause::SlowLink;
    case Fault::None:
        break;
    }
    return StragglerCause::Unknown;
}

/// A job with a random layout and a fault on one rank or on all ranks of a host, in each step or in one.
JobTraceOptions randomJob(unsigned seed, Fault fault)
{
    std::mt19937 random(seed);
    const auto below = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
    JobTraceOptions options{.ranks = 4 << below(3), .ranksPerHost = 4, .steps = 10, .layers = 12, .seed = seed};
    options.tensorParallel = fault == Fault::SlowLink || below(2) == 0 ? 2 : 1;
    if (fault == Fault::SlowLink)
        options.ranks = std::max(options.ranks, 8);
    options.jitter = 0.005 * (1 + below(6));
    options.sequences = below(2) == 0;
    options.clockOffsetNs = {0, below(20'000'000) - 10'000'000, below(1000)};
    options.fault = fault;
    options.amount = 0.1 + 0.05 * below(5);
    const int rank = below(options.ranks);
    options.faultyRanks = {rank};
    if (fault != Fault::SlowLink && fault != Fault::None && below(5) == 0 && options.ranks > 4)
        for (int i = 0; i < 4; ++i)
            options.faultyRanks.insert(rank / 4 * 4 + i);
    else if (fault != Fault::SlowLink && below(4) == 0) {
        options.faultySteps = {4 + below(5)};
        options.amount = 0.3 + 0.1 * below(4);
    }
    return options;
}

std::string describe(const JobTraceOptions& options, const profiler::job::Job& job)
{
    std::string text = "seed " + std::to_string(options.seed) + ", " + std::to_string(options.ranks) + " ranks, TP " +
                       std::to_string(options.tensorParallel) + ", amount " + std::to_string(options.amount) +
                       ", jitter " + std::to_string(options.jitter) +
                       (options.faultySteps.empty() ? "" : ", step " + std::to_string(*options.faultySteps.begin())) +
                       "; injected " + std::string(stragglerCauseName(causeOf(options.fault))) + " in";
    for (const int rank : options.faultyRanks)
        text += " " + std::to_string(rank);
    text += "; found";
    for (const Straggler& straggler : job.analysis.stragglers)
        text += "\n    " + std::to_string(straggler.rank) + " " + std::string(stragglerCauseName(straggler.cause)) +
                ": " + straggler.reason.text;
    return text;
}

/// True if exactly the injected ranks are found, with the injected cause and in the injected steps.
bool isRight(const JobTraceOptions& options, const profiler::job::Job& job)
{
    std::set<int> found;
    for (const Straggler& straggler : job.analysis.stragglers) {
        if (straggler.cause != causeOf(options.fault) || straggler.always != options.faultySteps.empty())
            return false;
        if (!options.faultySteps.empty() &&
            (straggler.steps.size() != 1 ||
             straggler.steps.front() != options.firstStep + *options.faultySteps.begin()))
            return false;
        if (options.faultyRanks.size() > 1 && !straggler.wholeHost)
            return false;
        found.insert(static_cast<int>(straggler.rank));
    }
    return found == options.faultyRanks;
}

} // namespace

TEST(JobCauses, AreRightInTwoHundredJobs)
{
    constexpr Fault kFaults[] = {Fault::SlowCompute, Fault::Throttling,        Fault::SlowHost,
                                 Fault::SlowLoader,  Fault::GarbageCollection, Fault::SlowLink};
    constexpr unsigned kJobs = 200;
    std::map<Fault, unsigned> wrong;
    unsigned right = 0;
    std::string errors;
    for (unsigned i = 0; i < kJobs; ++i) {
        const JobTraceOptions options = randomJob(i, kFaults[i % std::size(kFaults)]);
        test_support::TemporaryFolder folder;
        writeJobTraces(folder.path(), options);
        const auto job = open({folder.path()});
        ASSERT_TRUE(job) << job.error().message();
        if (isRight(options, *job))
            ++right;
        else
            errors += describe(options, *job) + "\n";
    }
    RecordProperty("right", static_cast<int>(right));
    EXPECT_GE(right, kJobs * 95 / 100) << errors;
    std::printf("%u of %u causes are right\n%s", right, kJobs, errors.c_str());
}

TEST(JobCauses, AreNotFoundInControls)
{
    for (unsigned i = 0; i < 60; ++i) {
        JobTraceOptions options = randomJob(1000 + i, Fault::None);
        options.faultyRanks.clear();
        options.faultySteps.clear();
        test_support::TemporaryFolder folder;
        writeJobTraces(folder.path(), options);
        const auto job = open({folder.path()});
        ASSERT_TRUE(job);
        EXPECT_TRUE(job->analysis.stragglers.empty()) << describe(options, *job);
    }
}
