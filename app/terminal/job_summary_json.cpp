#include "app/terminal/job_summary.h"
#include "app/terminal/json_text.h"
#include "profiler/analysis/intervals.h"

#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

Json textOrNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

/// NaN, a step that the rank did not record, becomes null.
Json listJson(const std::vector<double>& values)
{
    Json list = Json::array();
    for (const double value : values)
        list.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    return list;
}

Json stepsJson(const RankDigest& rank)
{
    std::vector<Step> steps;
    if (rank.hasSteps)
        for (const RankStep& own : rank.steps) {
            Step& step = steps.emplace_back();
            step.index = own.index;
            step.range = own.range;
            step.warmup = !own.steady;
        }
    return stepTimesJson(stepStatistics(steps), steps);
}

Json ranksJson(const JobSummary& summary)
{
    Json rows = Json::array();
    for (std::size_t i = 0; i < summary.job.ranks.size(); ++i) {
        const RankDigest& digest = summary.job.ranks[i];
        const JobRank& rank = summary.job.analysis.ranks[i];
        const RankClock& clock = summary.job.analysis.clock.ranks[i];
        rows.push_back({{"rank", digest.rank},
                        {"host", textOrNull(digest.host)},
                        {"file", digest.file},
                        {"step_us", rank.stepUs},
                        {"busy", digest.busy},
                        {"comm_exposed_us", rank.exposedUs},
                        {"comm_wait_us", rank.waitUs},
                        {"comm_transfer_us", rank.transferUs},
                        {"late_us", std::max(rank.lateUs, 0.0)},
                        {"bubble_us", summary.job.analysis.pipeline ? Json(rank.bubbleUs) : Json(nullptr)},
                        {"stage", rank.stage >= 0 ? Json(rank.stage) : Json(nullptr)},
                        {"events", digest.events},
                        {"steps", stepsJson(digest)},
                        {"step_list_us", listJson(rank.stepByStepUs)},
                        {"wait_list_us", listJson(rank.waitByStepUs)},
                        {"late_list_us", listJson(rank.lateByStepUs)},
                        {"compute_list_us", listJson(rank.computeByStepUs)},
                        {"clock_correction_us", toUs(clock.correction)},
                        {"clock_error_us", clock.refined ? Json(toUs(clock.error)) : Json(nullptr)}});
    }
    return rows;
}

Json stragglersJson(const JobSummary& summary)
{
    Json rows = Json::array();
    for (const Straggler& straggler : summary.job.analysis.stragglers)
        rows.push_back({{"rank", summary.job.ranks[straggler.rank].rank},
                        {"cause", stragglerCauseName(straggler.cause)},
                        {"late_us", straggler.lateUs},
                        {"when", straggler.always              ? "always"
                                 : straggler.steps.size() == 1 ? "one step"
                                                               : "some steps"},
                        {"steps", straggler.steps},
                        {"whole_host", straggler.wholeHost},
                        {"reason", messageJson(straggler.reason)}});
    return rows;
}

Json clockJson(const JobAnalysis& analysis, const std::vector<RankDigest>& ranks)
{
    bool realtime = true;
    Json steps = Json::array();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        realtime = realtime && ranks[i].hasRealtime;
        for (const ClockStep& step : analysis.clock.ranks[i].steps)
            steps.push_back({{"rank", ranks[i].rank}, {"host", textOrNull(ranks[i].host)}, {"by_us", toUs(step.by)}});
    }
    return {{"method", analysis.clock.refined ? "collectives"
                       : realtime             ? "realtime"
                                              : "none"},
            {"error_us", analysis.clock.refined ? Json(toUs(analysis.clock.error)) : Json(nullptr)},
            {"steps", steps}};
}

Json groupsJson(const JobAnalysis& analysis)
{
    Json rows = Json::array();
    for (const GroupUse& use : analysis.groups)
        rows.push_back({{"role", groupRoleName(use.role)},
                        {"groups", use.groups},
                        {"size", use.size},
                        {"calls", use.calls},
                        {"exposed_us", use.exposedUs},
                        {"wait_us", use.waitUs},
                        {"transfer_us", use.transferUs}});
    return rows;
}

Json collectivesJson(const JobAnalysis& analysis)
{
    const auto known = [](double rate) { return rate > 0 ? Json(rate) : Json(nullptr); };
    Json rows = Json::array();
    for (const CollectiveUse& use : analysis.collectives)
        rows.push_back({{"kind", collectiveName(use.kind)},
                        {"group", groupRoleName(use.role)},
                        {"link", linkName(use.link)},
                        {"ranks", use.ranks},
                        {"bytes", use.bytes > 0 ? Json(use.bytes) : Json(nullptr)},
                        {"count", use.count},
                        {"transfer_us", use.transferUs},
                        {"wait_us", use.waitUs},
                        {"algorithm_gb_per_s", known(use.algorithmGbPerS)},
                        {"bus_gb_per_s", known(use.busGbPerS)},
                        {"best_bus_gb_per_s", known(use.bestBusGbPerS)},
                        {"link_best_bus_gb_per_s", known(use.linkGbPerS)}});
    return rows;
}

Json excludedJson(const job::Job& job)
{
    Json rows = Json::array();
    for (const job::ExcludedFile& file : job.excluded)
        rows.push_back({{"file", file.file.string()},
                        {"rank", file.rank ? Json(*file.rank) : Json(nullptr)},
                        {"reason", messageJson(file.why)}});
    return rows;
}

std::vector<Message> notesOf(const job::Job& job)
{
    std::vector<Message> notes = job.notes;
    notes.insert(notes.end(), job.analysis.notes.begin(), job.analysis.notes.end());
    return notes;
}

Json pipelineJson(const std::optional<PipelineUse>& use)
{
    if (!use)
        return nullptr;
    return {{"stages", use->stages > 0 ? Json(use->stages) : Json(nullptr)}, {"bubble", use->bubble}};
}

Json jobJson(const JobSummary& summary)
{
    const job::Job& job = summary.job;
    const JobAnalysis& analysis = job.analysis;
    Json numbers = Json::array();
    for (const std::int64_t step : analysis.steps)
        numbers.push_back(step);
    return {{"world_size", job.worldSize},
            {"step_us", analysis.stepUs},
            {"efficiency", analysis.efficiency},
            {"slowest_rank", analysis.slowest ? Json(job.ranks[*analysis.slowest].rank) : Json(nullptr)},
            {"stragglers", stragglersJson(summary)},
            {"missing_ranks", job.missing},
            {"clock", clockJson(analysis, job.ranks)},
            {"steps", numbers},
            {"groups", groupsJson(analysis)},
            {"collectives", collectivesJson(analysis)},
            {"matched", analysis.matched},
            {"unmatched_calls", analysis.alone},
            {"mismatched_calls", analysis.mismatched},
            {"overlap", analysis.overlap},
            {"pipeline", pipelineJson(analysis.pipeline)},
            {"compute_imbalance", analysis.computeImbalance},
            {"exchange_imbalance", analysis.exchangeImbalance},
            {"excluded", excludedJson(job)},
            {"notes", messagesJson(notesOf(job))}};
}

} // namespace

Json toJson(const JobSummary& summary)
{
    Json json = toJson(*summary.frame, summary.all);
    json["source"]["rank"] = nullptr;
    json["source"]["world_size"] = summary.job.worldSize;
    if (summary.job.analysis.slowest)
        json["steps"]["rank"] = summary.job.ranks[*summary.job.analysis.slowest].rank;
    json["data_loss"] = {{"dropped", summary.dropped},
                         {"unmatched", summary.unmatched},
                         {"notes", textsJson(summary.losses)},
                         {"note_messages", messagesJson(summary.losses)}};
    json["ranks"] = ranksJson(summary);
    json["job"] = jobJson(summary);
    return json;
}

} // namespace app::terminal
