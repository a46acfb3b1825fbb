#include "advisor/advice.h"
#include "advisor/change/apply.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace app::terminal {

using namespace advisor;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 40; ///< in the text output; the JSON contains all
constexpr std::size_t kMostCode = 60; ///< characters of a line of code

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

/// The texts of the program's files as far as they are those of the recording, which are read when they are needed.
class RecordedLines {
public:
    explicit RecordedLines(const profiler::Trace& trace)
    {
        const ProgramDocument document = programOf(trace);
        if (document.facts)
            m_folder = document.facts->workingDirectory;
        const auto json = programJson(trace);
        if (const auto files = json.find("files"); json.is_object() && files != json.end() && files->is_array())
            for (const auto& file : *files)
                if (file.is_object())
                    m_hashes[file.value("path", "")] = file.value("sha256", "");
        if (auto originals = change::defaultOriginals())
            m_originals = *originals;
    }
    /// The path relative to the folder in which the program ran, if it is below.
    [[nodiscard]] std::string shown(const std::string& path) const
    {
        const std::filesystem::path relative = std::filesystem::path(path).lexically_relative(m_folder);
        return m_folder.empty() || relative.empty() || *relative.begin() == ".." ? path : relative.string();
    }
    /// The line without indentation; empty if it is not known.
    std::string code(const SourceLine& line)
    {
        const auto [file, isNew] = m_texts.try_emplace(line.file);
        if (isNew)
            if (const auto text = change::recordedText(line.file, m_hashes[line.file], m_originals))
                file->second = change::linesOfText(*text);
        const auto number = static_cast<std::size_t>(line.line);
        if (number == 0 || number > file->second.size())
            return {};
        const std::string& whole = file->second[number - 1];
        return whole.substr(std::min(whole.find_first_not_of(" \t"), whole.size()));
    }

private:
    std::filesystem::path m_folder, m_originals;
    std::map<std::string, std::string> m_hashes;
    std::map<std::string, std::vector<std::string>> m_texts;
};

/// For one line of a terminal.
std::string shortened(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    std::size_t characters = 0, end = 0;
    for (; end < text.size(); ++end)
        if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++characters > kMostCode)
            return text.substr(0, end) + "…";
    return text;
}

Json toJson(const profiler::Trace& trace, const SourceLines& found, const Findings& findings)
{
    RecordedLines texts(trace);
    Json lines = Json::array();
    for (const SourceLine& line : found.lines) {
        const auto concerning = findings.find({line.file, line.line});
        const std::string code = texts.code(line);
        lines.push_back({{"file", line.file},
                         {"line", line.line},
                         {"function", line.function},
                         {"code", code.empty() ? Json(nullptr) : Json(code)},
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

std::string toText(const profiler::Trace& trace, const SourceLines& found, const Findings& findings)
{
    RecordedLines texts(trace);
    const bool device =
        std::ranges::any_of(found.lines, [](const SourceLine& line) { return line.deviceUs.has_value(); });
    std::vector<std::string> header = {"line", "host", "share", "self", "waits"};
    if (device)
        header.emplace_back("device");
    const bool allocations = found.allocations != AllocationSource::NotRecorded;
    if (allocations)
        header.emplace_back("allocated (blocks)");
    std::vector<bool> rightAligned(header.size(), true);
    rightAligned.front() = false;
    for (const char* text : {"findings", "code"}) {
        header.emplace_back(text);
        rightAligned.push_back(false);
    }
    TextTable table(header, rightAligned);
    for (std::size_t i = 0; i < std::min(found.lines.size(), kMostRows); ++i) {
        const SourceLine& line = found.lines[i];
        std::string ids;
        if (const auto concerning = findings.find({line.file, line.line}); concerning != findings.end())
            for (const std::string& id : concerning->second)
                ids += (ids.empty() ? "" : ", ") + id;
        const auto timeOrNone = [](double us) { return us > 0 ? timeText(us) : "-"; };
        std::vector<std::string> row = {
            fmt::format("{}:{} {}", texts.shown(line.file), line.line, line.function), timeOrNone(line.totalUs),
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
        row.push_back(shortened(texts.code(line)));
        table.add(std::move(row));
    }
    std::string text =
        fmt::format("{} samples over {}, one every {}; {} outside of the program's files\n", found.samples,
                    timeText(found.sampledUs), timeText(found.intervalUs), timeText(found.outsideUs)) +
        table.text();
    text += "  host includes all functions that the line calls; self only those outside of the program's files.\n";
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
        streams.out << jsonText(toJson(**trace, found, findings)) << '\n';
    else
        streams.out << toText(**trace, found, findings);
    return kDone;
}

} // namespace app::terminal
