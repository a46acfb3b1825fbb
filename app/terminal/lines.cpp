#include "advisor/evidence/source_lines.h"
#include "advisor/numbers.h"
#include "advisor/rule.h"
#include "app/terminal/commands.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "app/terminal/step_choice.h"
#include "app/terminal/text_table.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace advisor::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 40; ///< in the text output; the JSON contains all

/// Ids of the findings that concern a line, by file and line.
using Findings = std::map<std::pair<std::string, int>, std::vector<std::string>>;

Findings findingsOf(const profiler::Trace& trace)
{
    Findings found;
    for (const RuleAdvice& row : advise(trace, nullptr))
        if (row.advice.state == State::Fires)
            for (const SourcePlace& place : row.advice.source)
                found[{place.file, place.line}].push_back(row.id);
    return found;
}

/// True if the user's choice matches this file: its path or the end of it.
bool isChosen(const std::string& path, const std::string& chosen)
{
    if (chosen.empty() || path == chosen)
        return true;
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(chosen, ignored).lexically_normal().string();
    return path == absolute || path.ends_with("/" + chosen);
}

Json toJson(const std::optional<LineAllocations>& allocations)
{
    return allocations ? Json{{"bytes", allocations->bytes}, {"count", allocations->count}} : Json(nullptr);
}

Json toJson(AllocationSource source)
{
    switch (source) {
    case AllocationSource::Sampled:
        return "sampled";
    case AllocationSource::Exact:
        return "exact";
    default:
        return nullptr;
    }
}

Json toJson(const SourceLines& found, const Findings& findings)
{
    Json lines = Json::array();
    for (const SourceLine& line : found.lines) {
        const auto concerning = findings.find({line.file, line.line});
        lines.push_back({{"file", line.file},
                         {"line", line.line},
                         {"function", line.function},
                         {"samples", line.samples},
                         {"host_self_us", line.selfUs},
                         {"host_us", line.totalUs},
                         {"share", found.sampledUs > 0 ? line.totalUs / found.sampledUs : 0},
                         {"wait_us", line.waitUs},
                         {"device_us", line.deviceUs ? Json(*line.deviceUs) : Json(nullptr)},
                         {"allocations", toJson(line.allocations)},
                         {"findings", concerning == findings.end() ? Json::array() : Json(concerning->second)}});
    }
    return {{"schema", 1},
            {"interval_us", found.intervalUs},
            {"samples", found.samples},
            {"sampled_us", found.sampledUs},
            {"outside_us", found.outsideUs},
            {"cost_us", found.costUs},
            {"allocations", toJson(found.allocations)},
            {"lines", lines}};
}

/// The shortest unambiguous path: relative for files in the current directory.
std::string shown(const std::string& path)
{
    std::error_code ignored;
    const std::filesystem::path relative =
        std::filesystem::path(path).lexically_relative(std::filesystem::current_path(ignored));
    return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

std::string toText(const SourceLines& found, const Findings& findings)
{
    const bool device =
        std::ranges::any_of(found.lines, [](const SourceLine& line) { return line.deviceUs.has_value(); });
    std::vector<std::string> header = {"line", "host", "share", "in the line itself", "waits"};
    if (device)
        header.emplace_back("device");
    const bool allocations = found.allocations != AllocationSource::NotRecorded;
    if (allocations)
        header.emplace_back("allocated (blocks)");
    header.emplace_back("findings");
    TextTable table(header);
    for (std::size_t i = 0; i < std::min(found.lines.size(), kMostRows); ++i) {
        const SourceLine& line = found.lines[i];
        std::string ids;
        if (const auto concerning = findings.find({line.file, line.line}); concerning != findings.end())
            for (const std::string& id : concerning->second)
                ids += (ids.empty() ? "" : ", ") + id;
        const auto timeOrNone = [](double us) { return us > 0 ? timeText(us) : "-"; };
        std::vector<std::string> row = {
            fmt::format("{}:{} {}", shown(line.file), line.line, line.function), timeOrNone(line.totalUs),
            line.totalUs > 0 && found.sampledUs > 0 ? shareText(line.totalUs / found.sampledUs) : "-",
            timeOrNone(line.selfUs), timeOrNone(line.waitUs)};
        if (device)
            row.push_back(line.deviceUs ? timeText(*line.deviceUs) : "-");
        if (allocations)
            row.push_back(
                line.allocations && line.allocations->count > 0
                    ? fmt::format("{} ({})", bytesText(line.allocations->bytes), countText(line.allocations->count))
                    : "-");
        row.push_back(ids.empty() ? "-" : ids);
        table.add(std::move(row));
    }
    std::string text =
        fmt::format("{} samples over {}, one every {}; {} outside of the program's files\n", found.samples,
                    timeText(found.sampledUs), timeText(found.intervalUs), timeText(found.outsideUs)) +
        table.text();
    if (found.allocations == AllocationSource::Sampled)
        text += "  Allocated memory is sampled like the time: --level full records it exactly.\n";
    if (found.lines.size() > kMostRows)
        text += fmt::format("  {} more lines are in the JSON (--json).\n", found.lines.size() - kMostRows);
    return text;
}

} // namespace

int lines(const LinesOptions& options, const Streams& streams)
{
    const auto trace = openTrace(options.trace);
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    SourceLines found = sourceLines(**trace);
    if (!found.problem.empty()) {
        streams.err << options.trace.string() << ": " << found.problem.text << '\n';
        return kBadInput;
    }
    std::erase_if(found.lines, [&](const SourceLine& line) { return !isChosen(line.file, options.file); });
    if (found.lines.empty()) {
        streams.err << options.file << ": the trace contains no line of this file\n";
        return kBadInput;
    }
    const Findings findings = findingsOf(**trace);
    if (options.json)
        streams.out << jsonText(toJson(found, findings)) << '\n';
    else
        streams.out << toText(found, findings);
    return kDone;
}

} // namespace advisor::cli
