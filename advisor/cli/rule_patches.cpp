#include "advisor/cli/rule_patches.h"

#include <fmt/format.h>

namespace advisor::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The change of a finding: the one that its rule proposes.
std::optional<change::WantedChange> wantedOf(const RuleAdvice& row)
{
    if (row.advice.state != State::Fires || !row.advice.proposed)
        return std::nullopt;
    return change::WantedChange{row.advice.proposed->key, row.advice.proposed->to};
}

RulePatch withoutPatch(const RuleAdvice& row, bool isProgram)
{
    if (row.advice.state != State::Fires)
        return {};
    if (!isProgram)
        return {{}, message<"patch.no_program", "The trace does not describe a Python program.">()};
    return {{}, message<"patch.no_setting", "The finding is about no single setting of the program.">()};
}

} // namespace

RulePatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice, const std::string& python)
{
    const bool isProgram = change::describesProgram(trace);
    RulePatches patches;
    std::vector<change::WantedChange> changes;
    std::vector<RuleAdvice*> rows;
    for (RuleAdvice& row : advice) {
        const auto wanted = isProgram ? wantedOf(row) : std::nullopt;
        if (wanted) {
            changes.push_back(*wanted);
            rows.push_back(&row);
        } else
            patches[row.id] = withoutPatch(row, isProgram);
    }
    auto found = change::patchProgramByEach(trace, changes, {.python = python});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RulePatch& entry = patches[rows[i]->id];
        if (!found || i >= found->size() || (*found)[i].changes.empty()) {
            entry.whyNot = found ? profiler::Message() : profiler::Message(found.error().message());
            continue;
        }
        const change::ChangeResult& change = (*found)[i].changes.front();
        Advice& finding = rows[i]->advice;
        if (change.measurable && !finding.toggle) {
            finding.toggle = Toggle{change.key, change.from.value_or(std::string()), change.to};
            finding.whyNoToggle = {};
        }
        const change::ProgramPatch& made = (*found)[i];
        if (change.measurable || !change.proposal.empty() || !made.diff.empty() || !made.command.empty())
            entry.patch = std::move((*found)[i]);
        else
            entry.whyNot = change.whyNot;
    }
    return patches;
}

Json patchJson(const change::ProgramPatch& patch)
{
    const change::ChangeResult& change = patch.changes.front();
    const std::string& diff = change.proposal.empty() ? patch.diff : change.proposal;
    return {{"how", change::howName(change.how)},
            {"diff", diff},
            {"command", patch.command.empty() ? Json(nullptr) : Json(commandText(patch.command))},
            {"arguments", patch.command.empty() ? Json(nullptr) : Json(patch.command)},
            {"measurable", change.measurable},
            {"why_not_source", change.whyNot.empty() ? Json(nullptr) : Json(change.whyNot.text)}};
}

Json sourceJson(const change::ProgramPatch& patch)
{
    Json rows = Json::array();
    for (const change::ChangeResult& change : patch.changes)
        for (const change::SourceSite& site : change.sites)
            rows.push_back({{"file", site.file},
                            {"line", site.line},
                            {"end_line", site.endLine},
                            {"column", site.column},
                            {"end_column", site.endColumn},
                            {"what", change.key}});
    return rows;
}

std::string commandText(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) {
        const bool plain =
            !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                    "0123456789-_=+./:,@%") == word.npos;
        std::string quoted = "'";
        for (const char letter : word)
            quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        text += (text.empty() ? "" : " ") + (plain ? word : quoted + "'");
    }
    return text;
}

std::string howText(const change::ChangeResult& change)
{
    std::string text(change::howName(change.how));
    if (!change.sites.empty())
        text += fmt::format(", {}:{}", change.sites.front().file, change.sites.front().line);
    if (change.sites.size() > 1)
        text += fmt::format(" and {} more place{}", change.sites.size() - 1, change.sites.size() > 2 ? "s" : "");
    return change.whyNot.empty() ? text : text + ": " + change.whyNot.text;
}

} // namespace advisor::cli
