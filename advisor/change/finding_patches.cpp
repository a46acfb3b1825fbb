#include "advisor/change/finding_patches.h"

#include <utility>

namespace advisor::change {

namespace {

/// The change of a finding that its rule proposes.
std::optional<WantedChange> wantedOf(const RuleAdvice& row)
{
    if (row.advice.state != State::Fires || !row.advice.proposed)
        return std::nullopt;
    return WantedChange{row.advice.proposed->key, row.advice.proposed->to};
}

FindingPatch withoutPatch(const RuleAdvice& row, bool isProgram)
{
    if (row.advice.state != State::Fires)
        return {};
    if (!isProgram)
        return {{}, message<"patch.no_program", "The trace does not describe a Python program.">()};
    return {{}, message<"patch.no_setting", "The finding is not about a single setting of the program.">()};
}

} // namespace

FindingPatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice,
                             const PatcherOptions& options)
{
    const bool isProgram = describesProgram(trace);
    FindingPatches patches;
    std::vector<WantedChange> changes;
    std::vector<RuleAdvice*> rows;
    for (RuleAdvice& row : advice) {
        const auto wanted = isProgram ? wantedOf(row) : std::nullopt;
        if (wanted) {
            changes.push_back(*wanted);
            rows.push_back(&row);
        } else
            patches[row.id] = withoutPatch(row, isProgram);
    }
    auto found = patchProgramByEach(trace, changes, options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        FindingPatch& entry = patches[rows[i]->id];
        if (!found || i >= found->size() || (*found)[i].changes.empty()) {
            entry.whyNot = found ? profiler::Message() : found.error().asMessage();
            continue;
        }
        ProgramPatch& made = (*found)[i];
        const ChangeResult& change = made.changes.front();
        Advice& finding = rows[i]->advice;
        if (change.measurable && !finding.toggle) {
            finding.toggle = Toggle{change.key, change.from.value_or(std::string()), change.to};
            finding.whyNoToggle = {};
        }
        if (change.measurable || !change.proposal.empty() || !made.diff.empty() || !made.command.empty())
            entry.patch = std::move(made);
        else
            entry.whyNot = change.whyNot;
    }
    return patches;
}

} // namespace advisor::change
