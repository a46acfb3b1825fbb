#include "app/terminal/advice_json.h"

#include "advisor/tip_text.h"
#include "app/terminal/json_text.h"
#include "app/terminal/rule_patches.h"
#include "profiler/analysis/intervals.h"

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using profiler::analysis::toUs;

Json evidenceJson(const profiler::Trace& trace, const std::vector<Evidence>& evidence)
{
    Json rows = Json::array();
    for (const Evidence& place : evidence)
        rows.push_back({{"track", trace.track(place.track).name},
                        {"name", place.name},
                        {"begin_us", toUs(place.range.begin - trace.range().begin)},
                        {"duration_us", toUs(place.range.duration())}});
    return rows;
}

Json sourceJson(const std::vector<SourcePlace>& source)
{
    Json rows = Json::array();
    for (const SourcePlace& place : source)
        rows.push_back({{"file", place.file},
                        {"line", place.line},
                        {"end_line", place.endLine},
                        {"column", place.column},
                        {"end_column", place.endColumn},
                        {"function", place.function},
                        {"what", place.what}});
    return rows;
}

/// Code to copy for a finding.
Json codeJson(const RuleAdvice& row, const ProgramValues& values)
{
    if (row.advice.state != State::Fires || tipText(row.id).empty())
        return nullptr;
    return {{"python", tipCodeOfRun(row.id, tip_section::kPyTorch, row.advice.toggle, values)},
            {"cpp", tipCodeOfRun(row.id, tip_section::kLibTorch, row.advice.toggle, values)}};
}

/// The time that the finding claims in the analysis window: findings never claim the same time twice.
Json claimsJson(const std::vector<TimeClaim>& claims)
{
    Json rows = Json::array();
    for (const TimeClaim& claim : claims)
        rows.push_back({{"part", timePartName(claim.part)}, {"us", claim.us}});
    return rows;
}

/// "patch" and "why_no_patch"; also "source" if only the patch shows which lines the finding concerns.
void addPatch(Json& json, const change::FindingPatches& patches, const std::string& rule)
{
    const auto found = patches.find(rule);
    const change::FindingPatch* entry = found == patches.end() ? nullptr : &found->second;
    if (entry && entry->patch && json["source"].empty())
        json["source"] = terminal::sourceJson(*entry->patch);
    json["patch"] = entry && entry->patch ? patchJson(*entry->patch) : Json(nullptr);
    if (!entry || !entry->patch)
        json["why_no_patch"] = entry && !entry->whyNot.empty() ? Json(entry->whyNot.text) : Json(nullptr);
}

Json oneJson(const profiler::Trace& trace, const RuleAdvice& row, const ProgramValues& values,
             const change::FindingPatches& patches)
{
    const Advice& advice = row.advice;
    Json json = {{"id", row.id},
                 {"state", stateName(advice.state)},
                 {"title", advice.title},
                 {"reason", advice.reason.text},
                 {"evidence", evidenceJson(trace, advice.evidence)},
                 {"saving", savingJson(advice.saving)}};
    if (!advice.saving)
        json["why_no_prediction"] = advice.whyNoPrediction.empty() ? Json(nullptr) : Json(advice.whyNoPrediction.text);
    json["caveats"] = Json::array();
    for (const profiler::Message& caveat : advice.caveats)
        json["caveats"].push_back(caveat.text);
    json["toggle"] = toggleJson(advice.toggle);
    if (!advice.toggle)
        json["why_no_toggle"] = advice.whyNoToggle.empty() ? Json(nullptr) : Json(advice.whyNoToggle.text);
    json["source"] = sourceJson(advice.source);
    json["code"] = codeJson(row, values);
    json["judged_by"] = objectiveName(advice.objective);
    json["measure"] = advice.measure;
    json["reason_id"] = advice.reason.id.empty() ? Json(nullptr) : Json(advice.reason.id);
    json["need"] = advice.need.text.empty() ? Json(nullptr) : Json(advice.need.text);
    json["need_id"] = advice.need.id.empty() ? Json(nullptr) : Json(advice.need.id);
    json["parameters"] = parametersJson(advice.reason);
    json["messages"] = {{"reason", messageJson(advice.reason)},
                        {"need", messageJson(advice.need)},
                        {"caveats", messagesJson(advice.caveats)},
                        {"why_no_prediction", messageJson(advice.whyNoPrediction)},
                        {"why_no_toggle", messageJson(advice.whyNoToggle)}};
    json["claims"] = claimsJson(row.claims);
    addPatch(json, patches, row.id);
    json["shares_with"] = row.sharesWith.empty() ? Json(nullptr) : Json(row.sharesWith);
    return json;
}

} // namespace

std::string_view stateName(State state)
{
    switch (state) {
    case State::Fires:
        return "fires";
    case State::Silent:
        return "silent";
    case State::CannotTell:
        return "cannot tell";
    }
    return "cannot tell";
}

std::string_view objectiveName(Objective by)
{
    switch (by) {
    case Objective::Time:
        return "time";
    case Objective::Memory:
        return "memory";
    case Objective::LossAtEqualTime:
        return "convergence";
    }
    return "time";
}

std::string_view savingUnitName(SavingUnit unit)
{
    switch (unit) {
    case SavingUnit::UsPerStep:
        return "us_per_step";
    case SavingUnit::UsPerEpoch:
        return "us_per_epoch";
    case SavingUnit::UsPerValidation:
        return "us_per_validation";
    case SavingUnit::Bytes:
        return "bytes";
    }
    return "us_per_step";
}

Json savingJson(const std::optional<Saving>& saving)
{
    if (!saving)
        return nullptr;
    return {{"unit", savingUnitName(saving->unit)},
            {"low", saving->low},
            {"mid", saving->mid},
            {"high", saving->high},
            {"of_us", saving->ofUs > 0 ? Json(saving->ofUs) : Json(nullptr)},
            {"kind", saving->kind == SavingKind::UpperBound ? "upper bound" : "estimate"},
            {"coverage",
             saving->kind == SavingKind::Estimate && saving->coverage > 0 ? Json(saving->coverage) : Json(nullptr)}};
}

Json toggleJson(const std::optional<Toggle>& toggle)
{
    if (!toggle)
        return nullptr;
    return {{"key", toggle->key}, {"from", toggle->from}, {"to", toggle->to}};
}

Json adviceJson(const profiler::Trace& trace, const std::vector<RuleAdvice>& advice,
                const config::TrainingConfig* config, const change::FindingPatches& patches)
{
    const ProgramValues values = programValues(trace, config);
    Json rows = Json::array();
    for (const RuleAdvice& row : advice)
        rows.push_back(oneJson(trace, row, values, patches));
    return {{"schema", 1}, {"advice", rows}};
}

} // namespace app::terminal
