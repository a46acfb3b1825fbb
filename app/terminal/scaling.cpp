#include "app/terminal/scaling.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/numbers.h"
#include "app/terminal/job_summary.h"
#include "app/terminal/json_text.h"
#include "app/terminal/text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <string_view>
#include <vector>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

// A cause that costs a smaller share of the step is not named; the JSON contains all of them.
constexpr double kLeastShare = 0.01;

/// Samples per rank and step, as our trainer and the loaders of a Python program record them; 0: not recorded.
std::int64_t batchOf(const profiler::Trace& trace)
{
    for (const std::string_view key : {"batch.size", "loader.batch_size"}) {
        const std::string_view text = metadata(trace, key);
        std::int64_t samples = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), samples).ec == std::errc{} && samples > 0)
            return samples;
    }
    return 0;
}

/// The parts that cost or gain time compared with the smallest job, largest first.
std::vector<JobTimePart> causesOf(const ScalingPoint& point)
{
    std::vector<JobTimePart> causes;
    for (std::size_t i = 0; i < kJobTimeParts; ++i)
        if (point.lostPartsUs[i] > kLeastShare * point.time.stepUs)
            causes.push_back(static_cast<JobTimePart>(i));
    std::ranges::stable_sort(causes, std::greater(),
                             [&](JobTimePart part) { return point.lostPartsUs[static_cast<std::size_t>(part)]; });
    return causes;
}

Json partsJson(const std::array<double, kJobTimeParts>& us)
{
    Json json = Json::object();
    for (std::size_t i = 0; i < kJobTimeParts; ++i)
        json[std::string(jobTimePartName(static_cast<JobTimePart>(i)))] = us[i];
    return json;
}

Json toJson(const Scaling& scaling, const std::vector<ScalingRun>& runs)
{
    Json rows = Json::array();
    for (const ScalingPoint& point : scaling.points) {
        Json causes = Json::array();
        for (const JobTimePart part : causesOf(point))
            causes.push_back(jobTimePartName(part));
        rows.push_back({{"source", runs[point.run].source},
                        {"ranks", point.ranks},
                        {"recorded_ranks", runs[point.run].facts.ranks.size()},
                        {"batch_per_rank", scaling.batchKnown ? Json(runs[point.run].batch) : Json(nullptr)},
                        {"step_us", point.time.stepUs},
                        {"steps_per_s", point.stepsPerS},
                        {"samples_per_s", scaling.batchKnown ? Json(point.samplesPerS) : Json(nullptr)},
                        {"speedup", point.speedup},
                        {"efficiency", point.efficiency},
                        {"time_us", partsJson(point.time.partsUs)},
                        {"lost_us", point.lostUs},
                        {"lost_time_us", partsJson(point.lostPartsUs)},
                        {"causes", causes}});
    }
    return {{"schema", 1},
            {"scaling", rows},
            {"batch_known", scaling.batchKnown},
            {"notes", textsJson(scaling.notes)},
            {"note_messages", messagesJson(scaling.notes)}};
}

std::string toText(const Scaling& scaling)
{
    const bool known = scaling.batchKnown;
    TextTable table({"Ranks", "step", known ? "samples/s" : "steps/s", "speedup", "efficiency", "lost per step"});
    for (const ScalingPoint& point : scaling.points)
        table.add({countText(point.ranks), timeText(point.time.stepUs),
                   known ? countText(point.samplesPerS) : profiler::significantText(point.stepsPerS),
                   fmt::format("{:.2f}", point.speedup), shareText(point.efficiency),
                   point.lostUs > 0 ? timeText(point.lostUs) : "-"});
    std::string text = "Scaling from " + countText(scaling.points.front().ranks) +
                       (scaling.points.front().ranks == 1 ? " rank\n\n" : " ranks\n\n") + table.text();
    for (const profiler::Message& note : scaling.notes)
        text += wrapped(note.text, 110, 2);
    TextTable causes({"Time lost per step", "ranks", "time", "share of the step"});
    for (const ScalingPoint& point : scaling.points)
        for (const JobTimePart part : causesOf(point)) {
            const double us = point.lostPartsUs[static_cast<std::size_t>(part)];
            causes.add(
                {jobTimePartText(part), countText(point.ranks), timeText(us), shareText(us / point.time.stepUs)});
        }
    return causes.empty() ? text + "\nNo part of the step grew with the number of ranks.\n"
                          : text + "\n" + causes.text();
}

} // namespace

std::string jobTimePartText(JobTimePart part)
{
    switch (part) {
    case JobTimePart::Compute:
        return "compute";
    case JobTimePart::Transfer:
        return "exposed transfer";
    case JobTimePart::Wait:
        return "waiting for ranks";
    case JobTimePart::Copy:
        return "copies";
    case JobTimePart::GarbageCollection:
        return "garbage collection";
    case JobTimePart::DataWait:
        return "waiting for data";
    case JobTimePart::Host:
        break;
    }
    return "host";
}

int summarizeScaling(const SummarizeOptions& options, const Streams& streams)
{
    if (options.detailed || options.whyStep) {
        streams.err << "--scaling compares jobs: leave out --detailed and --why-step\n";
        return kWrongUsage;
    }
    std::vector<OpenedJob> jobs;
    std::vector<ScalingRun> runs;
    for (const std::filesystem::path& path : options.traces) {
        auto job = openJobWithFrame({path}, options.steps);
        if (!job) {
            streams.err << job.error().message() << '\n';
            return kBadInput;
        }
        jobs.push_back(std::move(*job));
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
        runs.push_back({.facts = {jobs[i].job.ranks, jobs[i].job.analysis},
                        .worldSize = jobs[i].job.worldSize,
                        .batch = batchOf(*jobs[i].frame),
                        .source = options.traces[i].string()});
    const auto scaling = scalingOf(runs);
    if (!scaling) {
        streams.err << scaling.error().message() << '\n';
        return kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*scaling, runs)) << '\n';
    else
        streams.out << toText(*scaling);
    return kDone;
}

} // namespace app::terminal
