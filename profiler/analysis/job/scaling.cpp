#include "profiler/analysis/job/scaling.h"

#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <set>

namespace profiler::analysis {

namespace {

constexpr JobTimePart jobPartOf(RankTimePart part)
{
    switch (part) {
    case RankTimePart::Compute:
        return JobTimePart::Compute;
    case RankTimePart::Copy:
        return JobTimePart::Copy;
    case RankTimePart::Communication:
        return JobTimePart::Transfer;
    case RankTimePart::GarbageCollection:
        return JobTimePart::GarbageCollection;
    case RankTimePart::DataWait:
        return JobTimePart::DataWait;
    case RankTimePart::Host:
        break;
    }
    return JobTimePart::Host;
}

Result<void> checkRuns(std::span<const ScalingRun> runs)
{
    if (runs.size() < 2)
        return fail<"scaling.one_run", "a scaling curve needs at least two runs">(
            Error::Code::Invalid, runs.empty() ? std::string() : runs.front().source,
            "add runs of the same training with another number of ranks");
    for (const ScalingRun& run : runs)
        if (run.facts.analysis.steps.empty() ||
            std::ranges::none_of(run.facts.ranks, [](const RankDigest& rank) { return rank.hasSteps; }))
            return fail<"scaling.no_steps", "the run has no steps, so its throughput is unknown">(
                Error::Code::Invalid, run.source, "record steps, or choose them with --step-range");
    if (std::ranges::all_of(runs, [&](const ScalingRun& run) { return run.worldSize == runs.front().worldSize; }))
        return fail<"scaling.one_size", "all {runs} runs have {ranks} {ranks|rank|ranks}">(
            Error::Code::Invalid, {}, "use runs with different numbers of ranks, or compare two runs with diff",
            {{"runs", runs.size()}, {"ranks", runs.front().worldSize}});
    return {};
}

} // namespace

std::string_view jobTimePartName(JobTimePart part)
{
    constexpr std::array<std::string_view, kJobTimeParts> kNames = {
        "compute", "transfer", "wait", "copy", "garbage_collection", "data_wait", "host"};
    return kNames[static_cast<std::size_t>(part)];
}

JobTime jobTime(const JobFacts& job)
{
    const std::set<std::int64_t> analysed(job.analysis.steps.begin(), job.analysis.steps.end());
    JobTime mean;
    double counted = 0;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        JobTime rank;
        double steps = 0;
        for (const RankStep& step : job.ranks[r].steps) {
            if (!analysed.contains(step.index))
                continue;
            ++steps;
            rank.stepUs += toUs(step.range.duration());
            for (std::size_t i = 0; i < kRankTimeParts; ++i)
                rank.partsUs[static_cast<std::size_t>(jobPartOf(static_cast<RankTimePart>(i)))] += toUs(step.parts[i]);
        }
        if (steps == 0)
            continue;
        double& transfer = rank.partsUs[static_cast<std::size_t>(JobTimePart::Transfer)];
        double& wait = rank.partsUs[static_cast<std::size_t>(JobTimePart::Wait)];
        wait = std::min(transfer, job.analysis.ranks[r].exposedWaitUs * steps);
        transfer -= wait;
        ++counted;
        mean.stepUs += rank.stepUs / steps;
        for (std::size_t i = 0; i < kJobTimeParts; ++i)
            mean.partsUs[i] += rank.partsUs[i] / steps;
    }
    if (counted == 0)
        return mean;
    mean.stepUs /= counted;
    for (double& part : mean.partsUs)
        part /= counted;
    return mean;
}

Result<Scaling> scalingOf(std::span<const ScalingRun> runs)
{
    if (const auto usable = checkRuns(runs); !usable)
        return tl::unexpected(usable.error());
    Scaling found;
    found.batchKnown = std::ranges::all_of(runs, [](const ScalingRun& run) { return run.batch > 0; });
    if (!found.batchKnown)
        found.notes.push_back(message<"scaling.batch_unknown",
                                      "Not all runs record their batch size: each rank is assumed to process as many "
                                      "samples per step as in the smallest run.">());
    for (std::size_t i = 0; i < runs.size(); ++i)
        found.points.push_back({.run = i, .ranks = runs[i].worldSize, .time = jobTime(runs[i].facts)});
    std::ranges::stable_sort(found.points, {}, &ScalingPoint::ranks);
    const ScalingPoint first = found.points.front();
    for (ScalingPoint& point : found.points) {
        const ScalingRun& run = runs[point.run];
        // Samples per rank and step, relative to the smallest job: below 1 if a batch is divided among the ranks.
        const double work =
            found.batchKnown ? static_cast<double>(run.batch) / static_cast<double>(runs[first.run].batch) : 1;
        point.stepsPerS = point.time.stepUs > 0 ? 1e6 / point.time.stepUs : 0;
        if (found.batchKnown)
            point.samplesPerS = point.stepsPerS * static_cast<double>(run.batch * point.ranks);
        point.efficiency = point.time.stepUs > 0 ? work * first.time.stepUs / point.time.stepUs : 0;
        point.speedup = point.efficiency * static_cast<double>(point.ranks) / static_cast<double>(first.ranks);
        point.lostUs = point.time.stepUs - work * first.time.stepUs;
        for (std::size_t p = 0; p < kJobTimeParts; ++p)
            point.lostPartsUs[p] = point.time.partsUs[p] - work * first.time.partsUs[p];
        const auto recorded = static_cast<std::int64_t>(run.facts.ranks.size());
        if (recorded < point.ranks)
            found.notes.push_back(
                message<"scaling.part_recorded", "Only {recorded} of {ranks} ranks of {source} are recorded.">(
                    {{"recorded", recorded}, {"ranks", point.ranks}, {"source", run.source}}));
    }
    return found;
}

} // namespace profiler::analysis
