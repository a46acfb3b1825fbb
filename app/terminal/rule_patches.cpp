#include "app/terminal/rule_patches.h"

#include "advisor/runner/shell_words.h"

#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

using Json = nlohmann::ordered_json;

Json patchJson(const change::ProgramPatch& patch)
{
    const change::ChangeResult& change = patch.changes.front();
    const std::string& diff = change.proposal.empty() ? patch.diff : change.proposal;
    return {{"how", change::howName(change.how)},
            {"diff", diff},
            {"command", patch.command.empty() ? Json(nullptr) : Json(runner::commandLine(patch.command))},
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

std::string howText(const change::ChangeResult& change)
{
    std::string text;
    switch (change.how) {
    case change::How::Source:
        text = "edits the source";
        if (!change.sites.empty())
            text = fmt::format("edits {}:{}", change.sites.front().file, change.sites.front().line);
        if (change.sites.size() > 1)
            text += fmt::format(" and {} more place{}", change.sites.size() - 1, change.sites.size() > 2 ? "s" : "");
        break;
    case change::How::Argument:
        text = "changes an option of the command";
        break;
    case change::How::Hook:
        text = "an experiment can make it inside PyTorch, without an edit";
        break;
    case change::How::ToRead:
        text = "edit the program yourself";
        break;
    }
    return change.whyNot.empty() ? text : text + ": " + change.whyNot.text;
}

} // namespace app::terminal
