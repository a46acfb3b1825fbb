#include "advisor/advice.h"
#include "advisor/experiment/difference.h"
#include "advisor/experiment/job_difference.h"
#include "advisor/report/svg_chart.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"
#include "app/terminal/summarize.h"
#include "profiler/analysis/difference/step_difference.h"
#include "profiler/analysis/intervals.h"
#include "profiler/job/job_files.h"
#include "profiler/model/message.h"
#include "profiler/model/number_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app::terminal {

using namespace advisor;
using namespace profiler::analysis;

namespace {

using Json = nlohmann::ordered_json;
using profiler::ActivityKind;
using Row = StepDifference::Row;
using profiler::Error;
using profiler::message;
using profiler::Result;
using Steps = std::vector<Step>;

/// Whether the second trace is slower by more than a limit, for continuous integration.
struct SlowdownCheck {
    bool passed = true;
    profiler::Message why;
};

constexpr std::size_t kShownKernels = 12;
constexpr std::string_view kA = "a", kB = "b"; ///< labels of the two traces in the tables

const char* verdictText(Difference::Verdict verdict)
{
    switch (verdict) {
    case Difference::Verdict::Faster:
        return "faster";
    case Difference::Verdict::Slower:
        return "slower";
    case Difference::Verdict::NotComparable:
        return "not comparable";
    case Difference::Verdict::NotShown:
        break;
    }
    return "no difference shown";
}

Json intervalJson(const std::optional<std::pair<double, double>>& interval)
{
    return interval ? Json::array({interval->first, interval->second}) : Json(nullptr);
}

/// {"a", "b", "ratio"}; null without a value.
Json figuresJson(const Difference::Figures& figures)
{
    return {{"a", figures.a}, {"b", figures.b}, {"ratio", figures.b > 0 ? Json(figures.ratio()) : Json(nullptr)}};
}

Json figuresJson(const std::optional<Difference::Figures>& figures)
{
    return figures ? figuresJson(*figures) : Json(nullptr);
}

/// The statistic that determines `verdict` and `headline`.
Json statisticJson(const Difference& difference)
{
    if (!difference.statistic)
        return nullptr;
    const Difference::Statistic& statistic = *difference.statistic;
    Json json = figuresJson(statistic.stepUs);
    json["name"] = statisticName(statistic.kind);
    json["ci95"] = intervalJson(statistic.ci95);
    json["steps"] = {{"which", statistic.steady ? "steady" : "all"}, {"a", statistic.stepsA}, {"b", statistic.stepsB}};
    return json;
}

Json breakdownJson(const Difference& difference)
{
    if (difference.breakdownA.total.count() == 0 || difference.breakdownB.total.count() == 0)
        return nullptr;
    Json parts;
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        const auto part = static_cast<TimeClass>(i);
        parts[std::string(timeClassName(part))] = {{"a", difference.breakdownA.share(part)},
                                                   {"b", difference.breakdownB.share(part)}};
    }
    return parts;
}

Json rowsJson(const std::vector<Difference::Row>& rows)
{
    Json list = Json::array();
    for (const Difference::Row& row : rows)
        list.push_back(
            {{"name", row.name}, {"time_us", {{"a", row.aUs}, {"b", row.bUs}}}, {"delta_us", row.bUs - row.aUs}});
    return list;
}

Json spreadJson(const Difference::Spread& spread)
{
    return {{"count", spread.count}, {"p10", spread.p10}, {"p50", spread.p50}, {"p90", spread.p90}};
}

std::string rowsText(const std::string& heading, const std::vector<Difference::Row>& rows)
{
    TextTable table({heading, "a", "b", "change"});
    for (std::size_t i = 0; i < std::min(rows.size(), kShownKernels); ++i) {
        const double change = rows[i].bUs - rows[i].aUs;
        table.add({rows[i].name.substr(0, 70), timeText(rows[i].aUs), timeText(rows[i].bUs),
                   (change < 0 ? "-" : "+") + timeText(std::abs(change))});
    }
    return table.empty() ? std::string() : "\n" + table.text();
}

std::string breakdownText(const Difference& difference)
{
    TextTable table({"Where step time goes", "a", "b"});
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        const auto part = static_cast<TimeClass>(i);
        const double a = difference.breakdownA.share(part), b = difference.breakdownB.share(part);
        if (a > 0 || b > 0)
            table.add({std::string(timeClassName(part)), shareText(a), shareText(b)});
    }
    return table.empty() ? std::string() : "\n" + table.text();
}

/// The first fields of the output: whether the traces are comparable.
Json comparabilityJson(const Difference& difference)
{
    return {{"schema", 1},
            {"comparable", difference.whyNot.empty()},
            {"why_not", textsJson(difference.whyNot)},
            {"why_not_messages", messagesJson(difference.whyNot)},
            {"notes", textsJson(difference.notes)},
            {"notes_messages", messagesJson(difference.notes)}};
}

/// Adds `verdict`, `headline` and `statistic`.
void addVerdict(Json& json, const Difference& difference)
{
    json["verdict"] = verdictText(difference.verdict);
    json["headline"] = headline(difference, kB, kA).text;
    json["statistic"] = statisticJson(difference);
}

/// Headline, statistic, reasons and notes, one per line.
std::string verdictLines(const Difference& difference)
{
    std::string text = headline(difference, kB, kA).text + '\n';
    if (const profiler::Message statistic = basis(difference); !statistic.empty())
        text += "  " + statistic.text + '\n';
    for (const std::vector<profiler::Message>* messages : {&difference.whyNot, &difference.notes})
        for (const profiler::Message& message : *messages)
            text += "  " + message.text + '\n';
    if (difference.verdict == Difference::Verdict::Faster || difference.verdict == Difference::Verdict::Slower)
        text += "  These are two single runs: run an experiment to show whether a change between them is the cause.\n";
    return text;
}

/// The output of `diff` for two traces.
Json toJson(const Difference& difference)
{
    Json step = figuresJson(difference.meanStepUs);
    if (difference.meanStepUs) {
        step["ci95"] = intervalJson(difference.ci95);
        step["median"] = figuresJson(difference.medianStepUs);
        step["steady_mean"] = figuresJson(difference.steadyStepUs);
        if (difference.steadyStepUs)
            step["steady_mean"]["ci95"] = intervalJson(difference.steadyCi95);
    }
    Json kernels = Json::array();
    for (const Difference::Kernel& row : difference.kernels)
        kernels.push_back({{"name", row.name},
                           {"count", {{"a", row.countA}, {"b", row.countB}}},
                           {"time_us", {{"a", row.aUs}, {"b", row.bUs}}},
                           {"delta_us", row.bUs - row.aUs}});
    Json json = comparabilityJson(difference);
    json["step_us"] = step;
    json["span_us"] = figuresJson(difference.spanUs);
    json["kernel_time_us"] = figuresJson(difference.kernelUs);
    json["kernel_time_per_step_us"] = figuresJson(difference.kernelStepUs);
    addVerdict(json, difference);
    json["kernels_per"] = difference.perStep ? "step" : "trace";
    json["kernels"] = kernels;
    json["breakdown"] = breakdownJson(difference);
    json["classes"] = rowsJson(difference.classes);
    json["ops"] = rowsJson(difference.ops);
    json["phases"] = rowsJson(difference.phases);
    json["spread_us"] = {{"a", spreadJson(difference.spreadA)}, {"b", spreadJson(difference.spreadB)}};
    return json;
}

std::string toText(const Difference& difference)
{
    std::string text = verdictLines(difference);
    TextTable figures({"", "a", "b", "a / b"});
    const auto add = [&](const char* name, const std::optional<Difference::Figures>& row) {
        if (row && (row->a > 0 || row->b > 0))
            figures.add({name, timeText(row->a), timeText(row->b), fmt::format("{:.3f}", row->ratio())});
    };
    add("mean step", difference.meanStepUs);
    add("median step", difference.medianStepUs);
    add("steady step", difference.steadyStepUs);
    if (difference.kernelStepUs)
        add("kernels per step", difference.kernelStepUs);
    else
        add("all kernels", difference.kernelUs);
    add("first to last device work", difference.spanUs);
    if (!figures.empty())
        text += "\n" + figures.text();
    if (difference.ci95)
        text += fmt::format("  95 % interval of the ratio of mean steps (all marks): {:.3f}–{:.3f}\n",
                            difference.ci95->first, difference.ci95->second);
    text += breakdownText(difference);
    text += rowsText("Phase, per steady step", difference.phases);
    text += rowsText("Operators (self time), per step", difference.ops);
    text += rowsText("Kernel classes", difference.classes);
    TextTable kernels({difference.perStep ? "Kernel, per step" : "Kernel, total", "a", "b", "change"});
    for (std::size_t i = 0; i < std::min(difference.kernels.size(), kShownKernels); ++i) {
        const Difference::Kernel& row = difference.kernels[i];
        const double change = row.bUs - row.aUs;
        kernels.add({row.name.substr(0, 70), timeText(row.aUs), timeText(row.bUs),
                     (change < 0 ? "-" : "+") + timeText(std::abs(change))});
    }
    return kernels.empty() ? text : text + "\n" + kernels.text();
}

constexpr std::size_t kMostRows = 12; ///< of each table of the text output; the JSON contains all

struct Table {
    const char* key; ///< in the JSON
    const char* heading;
    ActivityKind kind;
};
constexpr std::array<Table, 5> kTables = {{{"phases", "Phase", ActivityKind::Phase},
                                           {"ops", "Operator (self time)", ActivityKind::CpuOp},
                                           {"kernels", "Kernel", ActivityKind::Kernel},
                                           {"copies", "Copy", ActivityKind::GpuMemcpy},
                                           {"memsets", "Memset", ActivityKind::GpuMemset}}};

Json timesJson(profiler::Nanoseconds a, profiler::Nanoseconds b)
{
    return {{"a", toUs(a)}, {"b", toUs(b)}};
}

std::string changeText(profiler::Nanoseconds change)
{
    return (change.count() < 0 ? "-" : "+") + profiler::durationText(std::chrono::abs(change));
}

/// The output of `diff --step`.
Json toJson(const StepDifference& difference, StepMatch::By matched)
{
    const auto a = difference.stepA.range.duration(), b = difference.stepB.range.duration();
    Json json = {{"schema", 1},
                 {"step", {{"a", difference.stepA.index}, {"b", difference.stepB.index}}},
                 {"matched_by", matched == StepMatch::By::Number ? "number" : "position"},
                 {"time_us", timesJson(a, b)},
                 {"delta_us", toUs(b - a)}};
    for (const Table& table : kTables) {
        Json rows = Json::array();
        for (const Row& row : difference.rows)
            if (row.kind == table.kind)
                rows.push_back({{"name", row.name},
                                {"count", {{"a", row.countA}, {"b", row.countB}}},
                                {"time_us", timesJson(row.a, row.b)},
                                {"delta_us", toUs(row.change())},
                                {"in", row.isNew()    ? "b"
                                       : row.isGone() ? "a"
                                                      : "both"}});
        json[table.key] = rows;
    }
    return json;
}

std::string toText(const StepDifference& difference)
{
    const auto a = difference.stepA.range.duration(), b = difference.stepB.range.duration();
    std::string text =
        fmt::format("Step {} of a: {}; step {} of b: {} ({})\n", difference.stepA.index, profiler::durationText(a),
                    difference.stepB.index, profiler::durationText(b), changeText(b - a));
    for (const Table& table : kTables) {
        TextTable rows({table.heading, "a", "b", "change", ""}, {false, true, true, true, false});
        std::size_t left = 0, shown = 0;
        for (const Row& row : difference.rows) {
            if (row.kind != table.kind)
                continue;
            if (shown == kMostRows) {
                ++left;
                continue;
            }
            ++shown;
            rows.add({row.name.substr(0, 70), row.isNew() ? "-" : profiler::durationText(row.a),
                      row.isGone() ? "-" : profiler::durationText(row.b), changeText(row.change()),
                      row.isNew()    ? "new"
                      : row.isGone() ? "gone"
                                     : ""});
        }
        if (rows.empty())
            continue;
        text += '\n' + rows.text();
        if (left > 0)
            text +=
                fmt::format("  {} more with smaller changes are in the JSON (--json).\n", profiler::countText(left));
    }
    return text;
}

/// Fails if the whole interval of the statistic of `difference` is beyond the limit, and if the traces cannot be
/// compared. Passes if no slowdown by more than the limit is shown.
/// @param percent  the limit: how much longer a step may take
SlowdownCheck checkSlowdown(const Difference& difference, double percent)
{
    if (!difference.whyNot.empty())
        return {false, difference.whyNot.front()};
    if (!difference.statistic || difference.statistic->stepUs.a <= 0)
        return {
            false,
            message<"slowdown.no_steps", "One of the traces has no complete steps, so step times cannot be compared.">(
                {})};
    const Difference::Statistic& statistic = *difference.statistic;
    if (!statistic.ci95 || statistic.ci95->first <= 0 || statistic.stepUs.b <= 0)
        return {false, message<"slowdown.no_interval",
                               "The traces have too few steps for an interval: record at least two in each.">({})};
    // The statistic's ratio is a / b; the limit is for b / a.
    const auto longer = [](double ratio) { return (1 / ratio - 1) * 100; };
    const auto shown = [](double change) { return fmt::format("{:+.1f} %", change); };
    const double change = longer(statistic.stepUs.ratio()), low = longer(statistic.ci95->second),
                 high = longer(statistic.ci95->first);
    const std::string limit = fmt::format("{:g} %", percent);
    if (low > percent)
        return {false,
                message<"slowdown.beyond_limit",
                        "A step takes {change} time (95 % interval {low} to {high}); the limit is {limit} more.">(
                    {{"change", change, shown(change)},
                     {"low", low, shown(low)},
                     {"high", high, shown(high)},
                     {"limit", percent, limit}})};
    return {true,
            message<"slowdown.within_limit",
                    "No slowdown beyond {limit} is shown: {change} time per step (95 % interval {low} to {high}).">(
                {{"limit", percent, limit},
                 {"change", change, shown(change)},
                 {"low", low, shown(low)},
                 {"high", high, shown(high)}})};
}

/// The check as a JUnit file with one test case.
std::string junitText(const SlowdownCheck& check, double percent)
{
    const std::string why = svg::escaped(check.why.text);
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<testsuites tests=\"1\" failures=\"{0}\">\n"
                       "  <testsuite name=\"stepscope\" tests=\"1\" failures=\"{0}\">\n"
                       "    <testcase classname=\"stepscope.diff\" name=\"step time, limit {1:g} %\">\n"
                       "      {2}\n"
                       "    </testcase>\n"
                       "  </testsuite>\n"
                       "</testsuites>\n",
                       check.passed ? 0 : 1, percent,
                       check.passed ? "<system-out>" + why + "</system-out>"
                                    : "<failure type=\"" + svg::escaped(check.why.id) + "\" message=\"" + why + "\"/>");
}

/// Carries out --fail-if-slower and --junit, if they are given.
/// @param json  gets the field `check`; null: the result is printed
/// @return the exit status of `diff`
int reportSlowdown(const DiffOptions& options, const Difference& difference, nlohmann::ordered_json* json,
                   const Streams& streams)
{
    if (!options.failIfSlower)
        return kDone;
    const SlowdownCheck check = checkSlowdown(difference, *options.failIfSlower);
    if (json)
        (*json)["check"] = {{"passed", check.passed}, {"why_id", check.why.id}, {"why", check.why.text}};
    else
        streams.out << '\n' << check.why.text << '\n';
    if (!options.junit.empty()) {
        std::ofstream file(options.junit, std::ios::binary);
        if (!(file << junitText(check, *options.failIfSlower) << std::flush)) {
            const profiler::Error error{profiler::Error::Code::Io,
                                        message<"slowdown.unwritten", "the file cannot be written">({}),
                                        options.junit.string(), "choose another file with --junit"};
            streams.err << error.message() << '\n';
            return kBadInput;
        }
    }
    return check.passed ? kDone : kSlower;
}

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

/// `diff` for two jobs. A single trace counts as a job with one rank.
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

/// The steps whose numbers a hint lists.
std::string rangeHint(const Steps& steps)
{
    return steps.empty() ? std::string("leave out --step: the trace has no steps")
                         : fmt::format("use a step from {} to {}", steps.front().index, steps.back().index);
}

/// The step with the number `--step` of the first trace, and the one that it is compared with.
Result<std::pair<Step, Step>> chosenPair(const DiffOptions& options, const Steps& a, const Steps& b,
                                         const StepMatch& match)
{
    const auto chosen = std::ranges::find(a, *options.step, &Step::index);
    if (chosen == a.end())
        return profiler::fail<"diff.no_step", "the trace has no step {step}">(Error::Code::NotFound, options.a.string(),
                                                                              rangeHint(a), {{"step", *options.step}});
    const auto other = matchedStep(match, a, static_cast<std::size_t>(chosen - a.begin()), b);
    if (!other)
        return profiler::fail<"diff.no_matched_step", "no step of the trace corresponds to step {step} of the other">(
            Error::Code::NotFound, options.b.string(), rangeHint(b), {{"step", *options.step}});
    return std::pair{*chosen, b[*other]};
}

} // namespace

int diff(const DiffOptions& options, const Streams& streams)
{
    const auto isJob = [](const std::filesystem::path& input) {
        return profiler::job::mayBeJob(std::array{input}) && !profiler::job::onlyTraceIn(std::array{input});
    };
    if (isJob(options.a) || isJob(options.b))
        return diffJobs(options, streams);
    const auto fails = [&](const Error& error) {
        streams.err << error.message() << '\n';
        return kBadInput;
    };
    const auto a = openTrace(options.a);
    const auto b = a ? openTrace(options.b) : a;
    if (!b)
        return fails(b.error());
    auto stepsA = chosenSteps(**a, options.steps, options.a);
    auto stepsB = stepsA ? chosenSteps(**b, options.steps, options.b) : stepsA;
    if (!stepsB)
        return fails(stepsB.error());
    if (options.step) {
        const StepMatch match = matchSteps(*stepsA, *stepsB);
        const auto pair = chosenPair(options, *stepsA, *stepsB, match);
        if (!pair)
            return fails(pair.error());
        const StepDifference found = stepDifference(**a, pair->first, **b, pair->second);
        streams.out << (options.json ? jsonText(toJson(found, match.by)) + '\n' : toText(found));
        return kDone;
    }
    const Difference found = difference(**a, **b, *stepsA, *stepsB);
    if (!options.json) {
        streams.out << toText(found);
        return reportSlowdown(options, found, nullptr, streams);
    }
    nlohmann::ordered_json json = toJson(found);
    const int status = reportSlowdown(options, found, &json, streams);
    if (status != kBadInput)
        streams.out << jsonText(json) << '\n';
    return status;
}

} // namespace app::terminal
