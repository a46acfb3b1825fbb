#include "advisor/numbers.h"
#include "advisor/report/report.h"
#include "advisor/report/svg_chart.h"
#include "advisor/verdict.h"

#include <fmt/format.h>
#include <fstream>

namespace advisor {

using svg::escaped;

namespace {

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
