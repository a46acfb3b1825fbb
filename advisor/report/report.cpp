#include "advisor/report/report.h"

#include "advisor/advice.h"
#include "advisor/experiment/result_text.h"
#include "advisor/prediction/saving.h"
#include "advisor/report/detailed_analysis_tables.h"
#include "advisor/report/svg_chart.h"
#include "advisor/runner/shell_words.h"
#include "advisor/tips.h"
#include "advisor/tuner/tune_text.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/step_repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

namespace advisor {

using namespace profiler::analysis;

namespace {

using svg::escaped;

constexpr std::size_t kMostRows = 15;

/// Name and colour of each time class, as in the app; in the order of TimeClass.
struct ClassLabel {
    const char *word, *colour;
};
constexpr std::array<ClassLabel, kTimeClasses> kClassLabels = {{{"kernels", "#009e73"},
                                                                {"copies", "#0072b2"},
                                                                {"memset", "#66cfc6"},
                                                                {"communication", "#d55e00"},
                                                                {"CUDA calls", "#8793a3"},
                                                                {"waiting for data", "#e69f00"},
                                                                {"operators", "#2fb083"},
                                                                {"other", "#a9b0ba"}}};

void addEnvironment(ReportModel& model, const profiler::Trace& trace)
{
    struct Known {
        std::string_view key;
        const char* label;
    };
    constexpr std::array<Known, 10> kKnown = {{{"workload", "Model"},
                                               {"batch.size", "Batch"},
                                               {"device", "Device"},
                                               {"versions.torch", "LibTorch"},
                                               {"versions.cuda_runtime", "CUDA"},
                                               {"versions.cudnn", "cuDNN"},
                                               {"host.cpu", "Processor"},
                                               {"host.cores", "Cores"},
                                               {"host.threads", "Operator threads"},
                                               {"ranks", "Ranks"}}};
    for (const profiler::Device& device : trace.devices())
        model.environment.emplace_back(fmt::format("GPU {}", device.id.value), device.name);
    for (const Known& row : kKnown)
        if (const auto entry = trace.metadata().find(row.key);
            entry != trace.metadata().end() && !entry->second.empty())
            model.environment.emplace_back(row.label, entry->second);
    model.environment.emplace_back("Trace",
                                   fmt::format("{}, {} slices, {:.2f} s", trace.format(), countText(trace.sliceCount()),
                                               static_cast<double>(trace.range().duration().count()) * 1e-9));
}

void addSettings(ReportModel& model, const config::TrainingConfig& config, std::string heading)
{
    ReportModel::Table table{
        std::move(heading), {"Setting", "Value", "Default"}, {}, "Settings that differ from the default."};
    for (const config::Difference& row : config::difference(config::TrainingConfig(), config))
        table.rows.push_back({row.key, row.b, row.a});
    if (!table.rows.empty())
        model.tables.push_back(std::move(table));
}

void addSteps(ReportModel& model, const std::vector<Step>& steps, const StepStatistics& statistics)
{
    std::vector<double> ms;
    for (const Step& step : steps)
        if (!step.partial)
            ms.push_back(toUs(step.range.duration()) / 1000);
    if (ms.empty())
        return;
    model.figures.push_back(
        {"Step duration", svg::lines({{"step", ms}}, "ms", true),
         fmt::format("{} steps{}: median {}, 90th percentile {}; steady-state mean {}.", statistics.count,
                     steps.front().found ? ", inferred from repeated work" : "", timeText(statistics.medianUs),
                     timeText(statistics.p90Us), timeText(statistics.steadyMeanUs))});
}

void addLoss(ReportModel& model, const profiler::Trace& trace)
{
    for (const profiler::Track& track : trace.tracks()) {
        if (track.kind != profiler::TrackKind::Counter || track.name != "loss")
            continue;
        std::vector<double> values;
        for (const profiler::CounterSample& sample : trace.counter(track.id))
            values.push_back(sample.value);
        if (values.size() > 1)
            model.figures.push_back({"Loss", svg::lines({{"loss", values}}, "", false), "As read back by the run."});
        return;
    }
}

void addTime(ReportModel& model, const profiler::Trace& trace, const std::vector<Step>& steps)
{
    const ActivityScan scan = scanActivity(trace);
    const Breakdown parts = breakdown(trace, scan, steps);
    std::vector<svg::Share> shares;
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        if (const auto part = static_cast<TimeClass>(i); parts.share(part) > 0)
            shares.push_back({kClassLabels[i].word, parts.share(part), kClassLabels[i].colour});
    if (!shares.empty())
        model.figures.push_back({"Where step time goes", svg::shares(shares),
                                 "Each moment is counted once, for the first class that applies."});
    ReportModel::Table kernels{"Longest kernels", {"Kernel", "Count", "Time"}, {}, {}};
    for (const KernelTotal& kernel : scan.kernels)
        if (kernels.rows.size() < kMostRows)
            kernels.rows.push_back({kernel.name, countText(kernel.count), timeText(toUs(kernel.time))});
    if (!kernels.rows.empty())
        model.tables.push_back(std::move(kernels));
    ReportModel::Table idle{"Causes of device idle time", {"Cause", "Time"}, {}, {}};
    const auto queued = queuedGaps(trace, scan);
    for (const IdleCause& cause : idleCauses(scan, {}, &queued))
        idle.rows.push_back({std::string(cause.cause), timeText(toUs(cause.time))});
    if (!idle.rows.empty())
        model.tables.push_back(std::move(idle));
}

void addDetailedAnalysis(ReportModel& model, const profiler::Trace& trace, const std::vector<Step>& steps)
{
    for (const AnalysisTable& shown : detailedAnalysisTables(trace, detailedAnalysis(trace, steps), kMostRows)) {
        ReportModel::Table table{shown.heading, {}, {}, shown.note};
        for (const AnalysisTable::Column& column : shown.columns)
            table.header.push_back(column.title);
        for (const AnalysisTable::Row& row : shown.rows) {
            std::vector<std::string>& cells = table.rows.emplace_back();
            for (const AnalysisTable::Cell& cell : row.cells)
                cells.push_back(cell.text);
        }
        model.tables.push_back(std::move(table));
    }
}

/// The tuning in the report; null: none.
const TuneOutcome* tuningOf(const ReportInput& input)
{
    return input.program ? static_cast<const TuneOutcome*>(input.program) : input.tuning;
}

std::vector<std::string> trialRow(const ExperimentResult& result)
{
    std::string change = result.plan.changes.empty() ? "A/A (no change)" : "";
    for (const Toggle& toggle : result.plan.changes)
        change += (change.empty() ? "" : ", ") + fmt::format("{} = {}", toggle.key, toggle.to) +
                  (toggle.from.empty() ? "" : fmt::format(" (was {})", toggle.from));
    return {std::move(change),
            std::string(verdictName(result.verdict)),
            ratioText(result.samplesPerSecond),
            predictedText(predictedHere(result)),
            measuredText(result),
            result.whyText()};
}

void addExperiments(ReportModel& model, const ReportInput& input)
{
    ReportModel::Table table{
        "Experiments",
        {"Change", "Verdict", "Samples/s, change / baseline (95 %)", "Predicted saving", "Measured (95 %)", "Why"},
        {},
        "The arms took turns on the same machine, without a profiler."};
    for (const ExperimentResult& result : input.experiments)
        table.rows.push_back(trialRow(result));
    if (const TuneOutcome* tuning = tuningOf(input))
        for (const TuneTrial& trial : tuning->trials) {
            table.rows.push_back(trial.result ? trialRow(*trial.result)
                                              : std::vector<std::string>{changesText(trial),
                                                                         std::string(outcomeName(trial.outcome)), "–",
                                                                         "–", "–", trial.whyText()});
            if (trial.outcome == TuneTrial::Outcome::Kept)
                table.rows.back()[1] += ": kept";
        }
    if (!table.rows.empty())
        model.results.push_back(std::move(table));
}

void addTuning(ReportModel& model, const TuneResult& tuning)
{
    ReportModel::Table table{"Result of tuning", {"Setting", "Before", "After"}, {}, {}};
    for (const config::Difference& row : config::difference(tuning.start, tuning.best))
        table.rows.push_back({row.key, row.a, row.b});
    table.note = tuneSummary(tuning) + ' ' + tuning.why.text;
    model.results.insert(model.results.begin(), std::move(table));
}

void addTuning(ReportModel& model, const ProgramTuneResult& tuning)
{
    ReportModel::Table table{"Result of tuning", {"Change", "Before", "After", "How"}, {}, {}};
    for (const Toggle& change : tuning.kept) {
        const auto made = std::find_if(tuning.patch.changes.begin(), tuning.patch.changes.end(),
                                       [&](const change::ChangeResult& one) { return one.key == change.key; });
        table.rows.push_back({change.key, change.from, change.to,
                              made == tuning.patch.changes.end() ? "" : std::string(change::howName(made->how))});
    }
    table.note = tuneSummary(tuning) + ' ' + tuning.why.text;
    model.results.insert(model.results.begin(), std::move(table));
    model.patch = tuning.patch.diff;
    if (!tuning.patch.command.empty())
        model.command = runner::commandLine(tuning.patch.command);
}

void addDifference(ReportModel& model, const Difference& difference)
{
    if (!difference.whyNot.empty()) {
        ReportModel::Table table{"Not comparable with the previous run", {"Reason"}, {}, {}};
        for (const profiler::Message& why : difference.whyNot)
            table.rows.push_back({why.text});
        model.tables.push_back(std::move(table));
    }
    const auto ms = [](std::vector<double> us) {
        std::sort(us.begin(), us.end());
        for (double& value : us)
            value /= 1000;
        return us;
    };
    if (difference.perStep)
        model.figures.push_back(
            {"Steps before and now, sorted by duration",
             svg::lines({{"before", ms(difference.stepsUsA)}, {"now", ms(difference.stepsUsB)}}, "ms", true),
             fmt::format("{}. {}", headline(difference, "This run", "the previous run").text, basis(difference).text)});
    const auto add = [&](const char* heading, const std::vector<Difference::Row>& rows) {
        ReportModel::Table table{heading, {"What", "Before", "Now", "Change"}, {}, "Per step."};
        for (const Difference::Row& row : rows)
            if (table.rows.size() < kMostRows)
                table.rows.push_back({row.name, timeText(row.aUs), timeText(row.bUs),
                                      (row.bUs < row.aUs ? "−" : "+") + timeText(std::abs(row.bUs - row.aUs))});
        if (!table.rows.empty())
            model.tables.push_back(std::move(table));
    };
    add("Phases that changed", difference.phases);
    add("Operators that changed", difference.ops);
    add("Kernel classes that changed", difference.classes);
}

void addCode(ReportModel& model, const ReportInput& input)
{
    // Findings that remain after a tuning have been tried, so only kept changes count.
    if (input.tuning) {
        for (const TunedCode& piece : codeToPaste(*input.tuning))
            model.code.push_back({piece.setting.key, piece.python, piece.cpp});
        return;
    }
    const ProgramValues values = input.trace    ? programValues(*input.trace, input.config)
                                 : input.config ? programValues(*input.config)
                                                : ProgramValues();
    for (const RuleAdvice& row : model.advice)
        if (row.advice.state == State::Fires && !tipText(row.id).empty())
            model.code.push_back({row.id, tipCodeOfRun(row.id, tip_section::kPyTorch, row.advice.toggle, values),
                                  tipCodeOfRun(row.id, tip_section::kLibTorch, row.advice.toggle, values)});
}

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } td, th { padding: .25rem .6rem; border-bottom: 1px solid var(--soft); text-align: left;
 vertical-align: top; overflow-wrap: break-word; } td:first-child { overflow-wrap: anywhere; }
 td:not(:first-child) { font-variant-numeric: tabular-nums; }
.finding { border-left: 4px solid #d55e00; padding: .1rem 1rem; margin: 1rem 0; background: var(--soft); }
.note, figcaption { opacity: .75; font-size: .9em; } figure { margin: 1rem 0; } svg { width: 100%; height: auto; }
svg text { font-family: system-ui, sans-serif; }
.legend span { margin-right: 1.2em; white-space: nowrap; } .legend i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; }
pre { background: var(--soft); padding: .7rem; overflow-x: auto; font-size: 13px; }
@media print { body { margin: 0; } .finding, figure, tr { break-inside: avoid; } }
)";

std::string tableHtml(const ReportModel::Table& table)
{
    std::string html = fmt::format("<h2>{}</h2>\n<table><thead><tr>", escaped(table.heading));
    for (const std::string& cell : table.header)
        html += "<th>" + escaped(cell) + "</th>";
    html += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
        html += "<tr>";
        for (const std::string& cell : row)
            html += "<td>" + escaped(cell) + "</td>";
        html += "</tr>\n";
    }
    html += "</tbody></table>\n";
    return table.note.empty() ? html : html + "<p class=\"note\">" + escaped(table.note) + "</p>\n";
}

std::string chartHtml(const svg::Chart& chart)
{
    std::string html = chart.svg;
    if (chart.legend.empty())
        return html;
    html += "<div class=\"legend\">";
    for (const svg::Chart::Entry& entry : chart.legend)
        html += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", entry.colour, escaped(entry.name));
    return html + "</div>";
}

std::string findingHtml(const RuleAdvice& row)
{
    const Advice& advice = row.advice;
    std::string html =
        fmt::format("<div class=\"finding\"><h3>{} <small>{}</small></h3><p>{}</p><p>{}</p>", escaped(advice.title),
                    escaped(row.id), escaped(advice.reason.text), escaped(savingSentence(advice)));
    if (advice.toggle)
        html += fmt::format("<p>Change: <code>{} = {}</code> (now {})</p>", escaped(advice.toggle->key),
                            escaped(advice.toggle->to), escaped(advice.toggle->from));
    html += "<ul>";
    for (const profiler::Message& caveat : advice.caveats)
        html += "<li>" + escaped(caveat.text) + "</li>";
    return html + "</ul></div>\n";
}

std::string adviceHtml(const std::vector<RuleAdvice>& advice)
{
    if (advice.empty())
        return {};
    std::string findings, others[2];
    for (const RuleAdvice& row : advice) {
        if (row.advice.state == State::Fires)
            findings += findingHtml(row);
        else
            others[row.advice.state == State::Silent ? 0 : 1] +=
                fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(row.id), escaped(reasonText(row.advice)));
    }
    std::string html = "<h2>Findings</h2>\n" + (findings.empty() ? std::string("<p>None.</p>\n") : findings);
    constexpr std::string_view kHeadings[] = {"Not found", "Cannot tell"};
    for (std::size_t i = 0; i < 2; ++i)
        if (!others[i].empty())
            html += fmt::format("<h2>{}</h2>\n<table><tbody>\n{}</tbody></table>\n", kHeadings[i], others[i]);
    return html;
}

} // namespace

std::string savingSentence(const Advice& advice)
{
    if (!advice.saving)
        return advice.whyNoPrediction.empty() ? std::string() : "No prediction: " + advice.whyNoPrediction.text;
    return savingText(*advice.saving);
}

ReportModel reportModel(const ReportInput& input)
{
    ReportModel model;
    model.title = input.title.empty() ? "Training report" : input.title;
    if (input.trace) {
        const std::vector<Step> steps = input.steps ? *input.steps : detectSteps(*input.trace).steps;
        addEnvironment(model, *input.trace);
        addSteps(model, steps, stepStatistics(steps));
        addTime(model, *input.trace, steps);
        addLoss(model, *input.trace);
        addDetailedAnalysis(model, *input.trace, steps);
        model.advice = advise(*input.trace, analyse(*input.trace, steps), input.config);
    } else if (const TuneOutcome* tuning = tuningOf(input)) {
        model.advice = tuning->advice;
    }
    addExperiments(model, input);
    if (input.difference)
        addDifference(model, *input.difference);
    if (input.tuning) {
        addTuning(model, *input.tuning);
        addSettings(model, input.tuning->best, "Settings after tuning");
    } else if (input.config) {
        addSettings(model, *input.config, "Settings of the run");
    }
    if (input.program)
        addTuning(model, *input.program);
    else
        addCode(model, input);
    return model;
}

std::string htmlBody(const ReportModel& model)
{
    std::string html = fmt::format("<h1>{}</h1>\n", escaped(model.title));
    if (!model.environment.empty()) {
        html += "<table><tbody>\n";
        for (const auto& [name, value] : model.environment)
            html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
        html += "</tbody></table>\n";
    }
    for (const ReportModel::Table& table : model.results)
        html += tableHtml(table);
    for (const ReportModel::Figure& figure : model.figures)
        html += fmt::format("<h2>{}</h2>\n<figure>{}<figcaption>{}</figcaption></figure>\n", escaped(figure.heading),
                            chartHtml(figure.chart), escaped(figure.caption));
    if (!model.command.empty())
        html += fmt::format("<h2>Command</h2><pre>{}</pre>\n", escaped(model.command));
    if (!model.patch.empty())
        html += fmt::format("<h2>Patch</h2><pre>{}</pre>\n", escaped(model.patch));
    html += adviceHtml(model.advice);
    for (const ReportModel::Table& table : model.tables)
        html += tableHtml(table);
    if (!model.code.empty())
        html += "<h2>Code to copy</h2>\n";
    for (const ReportModel::Code& code : model.code)
        html += fmt::format("<h3>{}</h3><p>PyTorch</p><pre>{}</pre><p>LibTorch</p><pre>{}</pre>\n", escaped(code.key),
                            escaped(code.python), escaped(code.cpp));
    return html;
}

std::string toHtml(const ReportModel& model)
{
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title><style>{}</style></head>\n"
        "<body>{}</body></html>\n",
        escaped(model.title), kStyle, htmlBody(model));
}

profiler::Result<void> writeReport(const std::filesystem::path& path, const ReportInput& input)
{
    using profiler::Error;
    const std::string html = toHtml(reportModel(input));
    std::filesystem::path partial = path;
    partial += ".part";
    std::error_code failed;
    {
        std::ofstream file(partial, std::ios::binary);
        if (!(file << html << std::flush)) {
            file.close();
            std::filesystem::remove(partial, failed);
            return profiler::fail<"report.unwritten", "The report could not be written">(
                Error::Code::Unavailable, path.string(), "choose an existing folder with free disk space");
        }
    }
    std::filesystem::rename(partial, path, failed);
    if (!failed)
        return {};
    const std::string why = failed.message();
    std::filesystem::remove(partial, failed);
    return profiler::fail<"report.unnamed", "The report could not be written: {why}">(
        Error::Code::Unavailable, path.string(), "choose another name", {{"why", why}});
}

} // namespace advisor
