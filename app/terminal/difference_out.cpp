#include "app/terminal/difference_out.h"

#include "advisor/numbers.h"
#include "app/terminal/json_text.h"
#include "app/terminal/text_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

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

} // namespace

Json figuresJson(const Difference::Figures& figures)
{
    return {{"a", figures.a}, {"b", figures.b}, {"ratio", figures.b > 0 ? Json(figures.ratio()) : Json(nullptr)}};
}

Json figuresJson(const std::optional<Difference::Figures>& figures)
{
    return figures ? figuresJson(*figures) : Json(nullptr);
}

Json comparabilityJson(const Difference& difference)
{
    return {{"schema", 1},
            {"comparable", difference.whyNot.empty()},
            {"why_not", textsJson(difference.whyNot)},
            {"why_not_messages", messagesJson(difference.whyNot)},
            {"notes", textsJson(difference.notes)},
            {"notes_messages", messagesJson(difference.notes)}};
}

void addVerdict(Json& json, const Difference& difference)
{
    json["verdict"] = verdictText(difference.verdict);
    json["headline"] = headline(difference, kB, kA).text;
    json["statistic"] = statisticJson(difference);
}

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

} // namespace app::terminal
