#include "app/terminal/job_diff.h"

#include "advisor/experiment/job_difference.h"
#include "advisor/numbers.h"
#include "app/terminal/difference_out.h"
#include "app/terminal/job_summary.h"
#include "app/terminal/json_text.h"
#include "app/terminal/scaling.h"
#include "app/terminal/slowdown_check.h"
#include "app/terminal/text_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRanks = 32; ///< in the table; the JSON contains all of them

Json stragglerJson(const Straggler* straggler)
{
    if (!straggler)
        return nullptr;
    return {{"cause", stragglerCauseName(straggler->cause)},
            {"late_us", straggler->lateUs},
            {"steps", straggler->steps.size()},
            {"reason", messageJson(straggler->reason)}};
}

const char* changeOf(const JobDifference::Straggler& row)
{
    return !row.a ? "appeared" : !row.b ? "gone" : "stayed";
}

Json toJson(const JobDifference& difference)
{
    Json json = comparabilityJson(difference.steps);
    json["world_size"] = {{"a", difference.worldSizeA}, {"b", difference.worldSizeB}};
    json["step_us"] = figuresJson(difference.stepUs);
    addVerdict(json, difference.steps);
    json["efficiency"] = {{"a", difference.efficiency.a}, {"b", difference.efficiency.b}};
    json["overlap"] = {{"a", difference.overlap.a}, {"b", difference.overlap.b}};
    Json& time = json["time_us"] = Json::object();
    for (std::size_t i = 0; i < kJobTimeParts; ++i) {
        const double a = difference.timeA.partsUs[i], b = difference.timeB.partsUs[i];
        time[std::string(jobTimePartName(static_cast<JobTimePart>(i)))] = {{"a", a}, {"b", b}, {"delta_us", b - a}};
    }
    Json& groups = json["groups"] = Json::array();
    for (const JobDifference::Group& group : difference.groups)
        groups.push_back({{"role", groupRoleName(group.role)},
                          {"exposed_us", figuresJson(group.exposedUs)},
                          {"wait_us", figuresJson(group.waitUs)},
                          {"transfer_us", figuresJson(group.transferUs)}});
    Json& stragglers = json["stragglers"] = Json::array();
    for (const JobDifference::Straggler& row : difference.stragglers)
        stragglers.push_back(
            {{"rank", row.rank}, {"change", changeOf(row)}, {"a", stragglerJson(row.a)}, {"b", stragglerJson(row.b)}});
    Json& ranks = json["ranks"] = Json::array();
    for (const JobDifference::Rank& rank : difference.ranks)
        ranks.push_back({{"rank", rank.rank},
                         {"step_us", figuresJson(rank.stepUs)},
                         {"comm_exposed_us", figuresJson(rank.exposedUs)},
                         {"comm_wait_us", figuresJson(rank.waitUs)},
                         {"late_us", figuresJson(rank.lateUs)}});
    return json;
}

std::string changeText(double a, double b)
{
    return (b < a ? "-" : "+") + timeText(std::abs(b - a));
}

std::string timeTable(const JobDifference& difference)
{
    TextTable table({"Mean step of a rank", "a", "b", "change"});
    table.add({"step", timeText(difference.timeA.stepUs), timeText(difference.timeB.stepUs),
               changeText(difference.timeA.stepUs, difference.timeB.stepUs)});
    for (std::size_t i = 0; i < kJobTimeParts; ++i) {
        const double a = difference.timeA.partsUs[i], b = difference.timeB.partsUs[i];
        if (a > 0 || b > 0)
            table.add({jobTimePartText(static_cast<JobTimePart>(i)), timeText(a), timeText(b), changeText(a, b)});
    }
    return table.text() + fmt::format("  Efficiency {} and {}; {} and {} of all communication overlap with compute.\n",
                                      shareText(difference.efficiency.a), shareText(difference.efficiency.b),
                                      shareText(difference.overlap.a), shareText(difference.overlap.b));
}

std::string groupTable(const JobDifference& difference)
{
    TextTable table({"Group, exposed per step", "a", "b", "change"});
    for (const JobDifference::Group& group : difference.groups)
        table.add({std::string(groupRoleName(group.role)), timeText(group.exposedUs.a), timeText(group.exposedUs.b),
                   changeText(group.exposedUs.a, group.exposedUs.b)});
    return table.empty() ? std::string() : "\n" + table.text();
}

std::string stragglersText(const JobDifference& difference)
{
    if (difference.stragglers.empty())
        return "\nNo rank delays the others in either job.\n";
    std::string text = "\nRanks that delay the others\n";
    const std::size_t shown = std::min(difference.stragglers.size(), kMostRanks);
    for (std::size_t i = 0; i < shown; ++i) {
        const JobDifference::Straggler& row = difference.stragglers[i];
        const Straggler& straggler = row.b ? *row.b : *row.a;
        text += wrapped(fmt::format("{}: {}",
                                    !row.a   ? "Only in b"
                                    : !row.b ? "Only in a"
                                             : "In both, now",
                                    straggler.reason.text),
                        110, 2);
    }
    if (shown < difference.stragglers.size())
        text += fmt::format("  and {} more\n", difference.stragglers.size() - shown);
    return text;
}

std::string rankTable(const JobDifference& difference)
{
    std::vector<const JobDifference::Rank*> rows;
    for (const JobDifference::Rank& rank : difference.ranks)
        if (rank.stepUs)
            rows.push_back(&rank);
    const std::size_t all = rows.size();
    if (all > kMostRanks) {
        std::ranges::stable_sort(rows, std::greater(), [](const JobDifference::Rank* rank) {
            return std::abs(rank->stepUs->a - rank->stepUs->b) + std::abs(rank->waitUs->a - rank->waitUs->b);
        });
        rows.resize(kMostRanks);
    }
    TextTable table({"Rank", "step a", "step b", "exposed a", "exposed b", "waits a", "waits b"});
    for (const JobDifference::Rank* rank : rows)
        table.add({std::to_string(rank->rank), timeText(rank->stepUs->a), timeText(rank->stepUs->b),
                   timeText(rank->exposedUs->a), timeText(rank->exposedUs->b), timeText(rank->waitUs->a),
                   timeText(rank->waitUs->b)});
    if (table.empty())
        return {};
    std::string text = "\n" + table.text();
    if (all > rows.size())
        text += fmt::format("  The {} ranks of {} that changed most.\n", rows.size(), all);
    if (difference.ranks.size() > all)
        text += fmt::format("  {} {} recorded in one job only.\n", difference.ranks.size() - all,
                            difference.ranks.size() - all == 1 ? "rank is" : "ranks are");
    return text;
}

std::string toText(const JobDifference& difference)
{
    return verdictLines(difference.steps) + "\n" + timeTable(difference) + groupTable(difference) +
           stragglersText(difference) + rankTable(difference);
}

} // namespace

int diffJobs(const DiffOptions& options, const Streams& streams)
{
    if (options.step) {
        streams.err << "--step compares two traces: give the file of a rank of each job\n";
        return kWrongUsage;
    }
    const auto a = openJobWithFrame({options.a}, options.steps);
    const auto b = a ? openJobWithFrame({options.b}, options.steps) : a;
    if (!b) {
        streams.err << b.error().message() << '\n';
        return kBadInput;
    }
    const auto compared = [](const OpenedJob& opened) {
        return ComparedJob{{opened.job.ranks, opened.job.analysis}, opened.job.worldSize, *opened.frame};
    };
    const JobDifference found = jobDifference(compared(*a), compared(*b));
    if (!options.json) {
        streams.out << toText(found);
        return reportSlowdown(options, found.steps, nullptr, streams);
    }
    Json json = toJson(found);
    const int status = reportSlowdown(options, found.steps, &json, streams);
    if (status != kBadInput)
        streams.out << jsonText(json) << '\n';
    return status;
}

} // namespace app::terminal
