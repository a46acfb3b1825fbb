#include "advisor/change/apply.h"
#include "advisor/change/branch.h"
#include "advisor/runner/shell_words.h"
#include "app/terminal/advise.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using Paths = std::vector<std::filesystem::path>;

int failed(const profiler::Error& error, const Streams& streams)
{
    streams.err << error.message() << '\n';
    return kBadInput;
}

int wrongUsage(std::string_view why, const Streams& streams)
{
    streams.err << why << " (stepscope-cli patch --help)\n";
    return kWrongUsage;
}

Json pathsJson(const Paths& paths)
{
    Json rows = Json::array();
    for (const auto& path : paths)
        rows.push_back(path.string());
    return rows;
}

int revert(const profiler::Trace& trace, const PatchOptions& options, const Streams& streams)
{
    const auto originals = change::defaultOriginals();
    const auto written = originals ? change::revertPatch(change::programFiles(trace), *originals)
                                   : profiler::Result<Paths>(tl::unexpected(originals.error()));
    if (!written)
        return failed(written.error(), streams);
    if (options.json)
        streams.out << jsonText({{"schema", 1}, {"reverted", pathsJson(*written)}}) << '\n';
    else
        for (const auto& path : *written)
            streams.out << "Reverted " << path.string() << '\n';
    return kDone;
}

Json changeJson(const change::ChangeResult& change)
{
    return {{"key", change.key},
            {"from", change.from ? Json(*change.from) : Json(nullptr)},
            {"to", change.to},
            {"how", change::howName(change.how)},
            {"measurable", change.measurable},
            {"why_not", change.whyNot.empty() ? Json(nullptr) : Json(change.whyNot.text)},
            {"why_not_id", change.whyNot.id.empty() ? Json(nullptr) : Json(change.whyNot.id)},
            {"proposal", change.proposal.empty() ? Json(nullptr) : Json(change.proposal)}};
}

Json toJson(const change::ProgramPatch& patch)
{
    Json changes = Json::array(), files = Json::array();
    for (const change::ChangeResult& change : patch.changes)
        changes.push_back(changeJson(change));
    for (const change::PatchedFile& file : patch.files)
        files.push_back(file.path.string());
    Json hooks = Json::object();
    for (const auto& [key, value] : patch.hooks)
        hooks[key] = value;
    return {{"schema", 1},
            {"changes", changes},
            {"source", sourceJson(patch)},
            {"files", files},
            {"diff", patch.diff},
            {"command", patch.command.empty() ? Json(nullptr) : Json(runner::commandLine(patch.command))},
            {"arguments", patch.command.empty() ? Json(nullptr) : Json(patch.command)},
            {"hooks", hooks}};
}

/// Comments, which patch(1) and git apply ignore, and the diff.
std::string toText(const change::ProgramPatch& patch)
{
    std::string text, proposals;
    for (const change::ChangeResult& change : patch.changes) {
        text += fmt::format("# {} = {}: {}\n", change.key, change.to, howText(change));
        if (!change.proposal.empty())
            proposals += fmt::format("# A proposal for {} = {}, to be applied by hand:\n", change.key, change.to) +
                         change.proposal;
    }
    if (!patch.command.empty())
        text += fmt::format("# Command: {}\n", runner::commandLine(patch.command));
    // Proposals are comments, so that they are not applied with the rest.
    std::string commented;
    for (std::size_t at = 0; at < proposals.size();) {
        const std::size_t end = std::min(proposals.find('\n', at), proposals.size());
        const std::string line = proposals.substr(at, end - at);
        commented += (line.starts_with('#') ? line : "# " + line) + '\n';
        at = end + 1;
    }
    return text + commented + patch.diff;
}

/// The figures of an experiment's result, for a commit message.
profiler::Result<std::string> measuredText(const std::filesystem::path& path)
{
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json json = Json::parse(text, nullptr, false);
    const Json step = json.is_object() && json.contains("step_us") ? json["step_us"] : Json();
    if (!step.is_object() || !json.contains("verdict") || !json["verdict"].is_string())
        return profiler::fail<"patch.no_result", "The file is not the result of an experiment">(
            profiler::Error::Code::Malformed, path.string(), "create one with stepscope-cli experiment --json");
    std::string figures = fmt::format("Measured: {}", json["verdict"].get<std::string>());
    const auto number = [](const Json& value) { return value.is_number() ? value.get<double>() : 0; };
    const double a = number(step.value("a", Json())), b = number(step.value("b", Json()));
    if (a > 0 && b > 0)
        figures += fmt::format("; a step took {:.3g} ms before and {:.3g} ms after", a / 1000, b / 1000);
    const Json interval = step.value("ci95", Json());
    if (interval.is_array() && interval.size() == 2)
        figures += fmt::format(", ratio {:.3f} (95 % confidence interval {:.3f} to {:.3f})",
                               number(step.value("ratio", Json())), number(interval[0]), number(interval[1]));
    return figures + ".";
}

profiler::Result<std::string> commitMessage(const change::ProgramPatch& patch, const PatchOptions& options)
{
    std::string subject, body;
    for (const change::ChangeResult& change : patch.changes)
        if (change.how == change::How::Source) {
            subject += (subject.empty() ? "" : ", ") + change.key + " = " + change.to;
            body += fmt::format("{} = {}{}\n", change.key, change.to, change.from ? " (was " + *change.from + ")" : "");
        }
    std::string text = subject + "\n\n" + body;
    if (options.measured.empty())
        return text;
    const auto measured = measuredText(options.measured);
    return measured ? profiler::Result<std::string>(text + "\n" + *measured + "\n") : measured;
}

/// Writes or commits the patch. Adds the outcome to `json` and `text`.
profiler::Result<void> carryOut(const change::ProgramPatch& patch, const PatchOptions& options, Json& json,
                                std::string& text)
{
    if (!options.branch.empty()) {
        const auto message = commitMessage(patch, options);
        if (!message)
            return tl::unexpected(message.error());
        const auto commit = change::commitOnBranch(patch.files, options.branch, *message);
        if (!commit)
            return tl::unexpected(commit.error());
        json["branch"] = {{"name", commit->branch}, {"commit", commit->commit}, {"repository", commit->repository}};
        text = fmt::format("Committed {} on branch {}\n", commit->commit.substr(0, 12), commit->branch);
        return {};
    }
    const auto originals = change::defaultOriginals();
    const auto written =
        originals ? change::applyPatch(patch, *originals) : profiler::Result<Paths>(tl::unexpected(originals.error()));
    if (!written)
        return tl::unexpected(written.error());
    json["applied"] = pathsJson(*written);
    for (const auto& path : *written)
        text += "Applied to " + path.string() + '\n';
    text += fmt::format("Undo: stepscope-cli patch {} --revert\n", runner::commandLine({options.trace.string()}));
    return {};
}

} // namespace

int patchSource(const PatchOptions& options, const Streams& streams)
{
    std::vector<change::WantedChange> changes;
    for (const std::string& assignment : options.assignments) {
        const auto equals = assignment.find('=');
        if (equals == assignment.npos || equals == 0)
            return wrongUsage(fmt::format("--set {} is not key=value", assignment), streams);
        const std::string key = assignment.substr(0, equals);
        if (std::any_of(changes.begin(), changes.end(), [&](const auto& other) { return other.key == key; }))
            return wrongUsage(fmt::format("--set {} is given twice", key), streams);
        changes.push_back({key, assignment.substr(equals + 1)});
    }
    if (changes.empty() && !options.revert)
        return wrongUsage("patch needs --set key=value, or --revert", streams);
    const auto trace = openTrace(options.trace);
    if (!trace)
        return failed(trace.error(), streams);
    if (options.revert)
        return revert(**trace, options, streams);
    const auto patch = change::patchProgram(**trace, changes, {.python = options.python});
    if (!patch)
        return failed(patch.error(), streams);
    for (const change::ChangeResult& change : patch->changes)
        if (change.whyNot.id == "change.value")
            return wrongUsage(fmt::format("--set {}={}: {}", change.key, change.to, change.whyNot.text), streams);
    Json json = toJson(*patch);
    std::string text = toText(*patch);
    if (options.apply || !options.branch.empty()) {
        if (patch->files.empty()) {
            const change::ChangeResult& first = patch->changes.front();
            streams.err << fmt::format("No file changes. {} = {}: {}\n", first.key, first.to, howText(first));
            return kBadInput;
        }
        std::string done;
        if (const auto carried = carryOut(*patch, options, json, done); !carried)
            return failed(carried.error(), streams);
        text += done;
    }
    if (options.json)
        streams.out << jsonText(json) << '\n';
    else
        streams.out << text;
    return kDone;
}

} // namespace app::terminal
