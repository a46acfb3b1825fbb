#include "advisor/experiment/job_difference.h"

#include "advisor/experiment/statistics.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace advisor {

namespace {

using namespace profiler;
using namespace profiler::analysis;

bool hasSteps(const ComparedJob& job)
{
    return !job.facts.analysis.steps.empty() &&
           std::ranges::all_of(job.facts.ranks, [](const RankDigest& rank) { return rank.hasSteps; });
}

/// Durations of the job's steps in µs, in order: of the slowest rank in each.
std::vector<double> stepsUs(const ComparedJob& job)
{
    std::vector<double> us;
    for (std::size_t s = 0; s < job.facts.analysis.steps.size(); ++s) {
        double longest = 0;
        for (const JobRank& rank : job.facts.analysis.ranks)
            if (const double own = rank.stepByStepUs[s]; std::isfinite(own))
                longest = std::max(longest, own);
        if (longest > 0)
            us.push_back(longest);
    }
    return us;
}

/// Names of the devices, each once: jobs of different sizes have different numbers of them.
std::multiset<std::string> devicesOf(const ComparedJob& job)
{
    std::multiset<std::string> names;
    for (const RankDigest& rank : job.facts.ranks)
        if (!rank.device.empty() && !names.contains(rank.device))
            names.insert(rank.device);
    return names;
}

std::set<std::string> workOf(const ComparedJob& job)
{
    std::set<std::string> names;
    for (const RankDigest& rank : job.facts.ranks)
        for (const WorkTotal& work : rank.work)
            names.insert(work.name);
    return names;
}

void checkComparable(const ComparedJob& a, const ComparedJob& b, Difference& found)
{
    const bool sameSize = a.worldSize == b.worldSize;
    if (!sameSize)
        found.notes.push_back(
            message<"diff.job.world_sizes", "The jobs have {a} and {b} ranks, so a step may be a different amount of "
                                            "work: see summarize --scaling for their throughput.">(
                {{"a", a.worldSize}, {"b", b.worldSize}}));
    if (Message different = differentHardware(devicesOf(a), devicesOf(b)); !different.empty())
        found.whyNot.push_back(std::move(different));
    const auto usesDevice = [](const ComparedJob& job) {
        return std::ranges::any_of(job.facts.ranks, &RankDigest::usesDevice);
    };
    if (usesDevice(a) != usesDevice(b))
        found.whyNot.push_back(
            message<"diff.not_comparable.one_device", "Only one of the jobs ran kernels on a device.">());
    for (Message& different : differentSettings(a.frame, b.frame)) {
        // With more ranks, the same batch of the job is divided into smaller ones.
        const MessageParameter* key = different.find("key");
        const bool isBatch = key && key->text == "batch.size";
        (isBatch && !sameSize ? found.notes : found.whyNot).push_back(std::move(different));
    }
    const std::set<std::string> workA = workOf(a), workB = workOf(b);
    if (!workA.empty() && !workB.empty() &&
        std::ranges::none_of(workA, [&](const std::string& name) { return workB.contains(name); }))
        found.whyNot.push_back(
            message<"diff.not_comparable.job_work",
                    "The jobs do different work: the kernels and operators with the most time have no name in "
                    "common.">());
    if (hasSteps(a) != hasSteps(b))
        found.whyNot.push_back(message<"diff.not_comparable.job_steps", "Only one of the jobs has steps.">());
    struct Named {
        const char* name;
        const ComparedJob& job;
    };
    for (const Named& one : {Named{"a", a}, Named{"b", b}})
        if (const auto recorded = static_cast<std::int64_t>(one.job.facts.ranks.size()); recorded < one.job.worldSize)
            found.notes.push_back(message<"diff.job.part_recorded", "Only {recorded} of {ranks} ranks of {job} are "
                                                                    "recorded.">(
                {{"recorded", recorded}, {"ranks", one.job.worldSize}, {"job", one.name}}));
}

void compareSteps(const ComparedJob& a, const ComparedJob& b, Difference& found)
{
    if (!hasSteps(a) || !hasSteps(b))
        return;
    found.stepsUsA = stepsUs(a);
    found.stepsUsB = stepsUs(b);
    if (found.stepsUsA.empty() || found.stepsUsB.empty())
        return;
    const StepRatio ratio = ratioOfMedians(found.stepsUsA, found.stepsUsB);
    found.statistic = Difference::Statistic{.kind = Difference::Statistic::Kind::MedianRatio,
                                            .steady = true,
                                            .stepUs = {ratio.a, ratio.b},
                                            .ci95 = ratio.ci95,
                                            .stepsA = found.stepsUsA.size(),
                                            .stepsB = found.stepsUsB.size()};
    found.meanStepUs = {mean(found.stepsUsA), mean(found.stepsUsB)};
    found.medianStepUs = {percentile(found.stepsUsA, 0.5), percentile(found.stepsUsB, 0.5)};
    found.ci95 = ratioOfMeans(found.stepsUsA, found.stepsUsB).ci95;
    found.perStep = true;
}

std::vector<JobDifference::Group> groupChanges(const JobAnalysis& a, const JobAnalysis& b)
{
    std::map<GroupRole, JobDifference::Group> rows;
    for (const GroupUse& use : a.groups) {
        JobDifference::Group& row = rows[use.role];
        row.exposedUs.a = use.exposedUs;
        row.waitUs.a = use.waitUs;
        row.transferUs.a = use.transferUs;
    }
    for (const GroupUse& use : b.groups) {
        JobDifference::Group& row = rows[use.role];
        row.exposedUs.b = use.exposedUs;
        row.waitUs.b = use.waitUs;
        row.transferUs.b = use.transferUs;
    }
    std::vector<JobDifference::Group> changes;
    for (auto& [role, row] : rows) {
        row.role = role;
        changes.push_back(row);
    }
    std::ranges::stable_sort(changes, std::greater(), [](const JobDifference::Group& row) {
        return std::abs(row.exposedUs.a - row.exposedUs.b);
    });
    return changes;
}

std::vector<JobDifference::Straggler> stragglerChanges(const JobFacts& a, const JobFacts& b)
{
    std::map<std::int64_t, JobDifference::Straggler> rows;
    for (const Straggler& straggler : a.analysis.stragglers)
        rows[a.ranks[straggler.rank].rank].a = &straggler;
    for (const Straggler& straggler : b.analysis.stragglers)
        rows[b.ranks[straggler.rank].rank].b = &straggler;
    std::vector<JobDifference::Straggler> changes;
    for (auto& [rank, row] : rows) {
        row.rank = rank;
        changes.push_back(row);
    }
    return changes;
}

std::vector<JobDifference::Rank> rankChanges(const JobFacts& a, const JobFacts& b)
{
    struct Pair {
        const JobRank *a = nullptr, *b = nullptr;
    };
    std::map<std::int64_t, Pair> pairs;
    for (std::size_t i = 0; i < a.ranks.size(); ++i)
        pairs[a.ranks[i].rank].a = &a.analysis.ranks[i];
    for (std::size_t i = 0; i < b.ranks.size(); ++i)
        pairs[b.ranks[i].rank].b = &b.analysis.ranks[i];
    std::vector<JobDifference::Rank> rows;
    for (const auto& [rank, pair] : pairs) {
        JobDifference::Rank& row = rows.emplace_back();
        row.rank = rank;
        if (!pair.a || !pair.b)
            continue;
        row.stepUs = {pair.a->stepUs, pair.b->stepUs};
        row.exposedUs = {pair.a->exposedUs, pair.b->exposedUs};
        row.waitUs = {pair.a->waitUs, pair.b->waitUs};
        row.lateUs = {std::max(pair.a->lateUs, 0.0), std::max(pair.b->lateUs, 0.0)};
    }
    return rows;
}

} // namespace

JobDifference jobDifference(const ComparedJob& a, const ComparedJob& b)
{
    JobDifference found;
    found.worldSizeA = a.worldSize;
    found.worldSizeB = b.worldSize;
    checkComparable(a, b, found.steps);
    compareSteps(a, b, found.steps);
    found.steps.verdict = verdictOf(found.steps);
    const JobAnalysis &inA = a.facts.analysis, &inB = b.facts.analysis;
    found.stepUs = {inA.stepUs, inB.stepUs};
    found.efficiency = {inA.efficiency, inB.efficiency};
    found.overlap = {inA.overlap, inB.overlap};
    found.timeA = jobTime(a.facts);
    found.timeB = jobTime(b.facts);
    found.groups = groupChanges(inA, inB);
    found.stragglers = stragglerChanges(a.facts, b.facts);
    found.ranks = rankChanges(a.facts, b.facts);
    return found;
}

} // namespace advisor
