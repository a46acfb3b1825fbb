#include "trainer/config/knob_json.h"

namespace config {

using Json = nlohmann::ordered_json;

namespace {

std::string_view typeName(KnobType type)
{
    switch (type) {
    case KnobType::Flag:
        return "flag";
    case KnobType::Integer:
        return "integer";
    case KnobType::Real:
        return "real";
    case KnobType::Choice:
        return "choice";
    case KnobType::Path:
        return "path";
    case KnobType::Text:
        return "text";
    }
    return "text";
}

std::string_view objectiveName(Objective objective)
{
    switch (objective) {
    case Objective::StepTime:
        return "step time";
    case Objective::EpochTime:
        return "epoch";
    case Objective::ValidationTime:
        return "validation";
    case Objective::Memory:
        return "memory";
    case Objective::LossAtEqualTime:
        return "loss at equal time";
    }
    return "step time";
}

std::string_view batchesName(Batches batches)
{
    switch (batches) {
    case Batches::Same:
        return "same";
    case Batches::OtherSamples:
        return "other samples";
    case Batches::OtherSize:
        return "other size";
    }
    return "same";
}

std::string_view warmUpName(WarmUp warmUp)
{
    switch (warmUp) {
    case WarmUp::None:
        return "none";
    case WarmUp::Autotuning:
        return "autotuning";
    case WarmUp::Compilation:
        return "compilation";
    }
    return "none";
}

std::string_view searchName(ValueSearch search)
{
    switch (search) {
    case ValueSearch::None:
        return "none";
    case ValueSearch::Neighbours:
        return "neighbours";
    case ValueSearch::Doubling:
        return "doubling";
    }
    return "none";
}

std::string_view pathName(PathKind kind)
{
    switch (kind) {
    case PathKind::File:
        return "file";
    case PathKind::FileOrFolder:
        return "file or folder";
    case PathKind::NewFile:
        return "new file";
    case PathKind::NewFolder:
        return "new folder";
    }
    return "file";
}

Json conditionsJson(const std::vector<Condition>& conditions)
{
    Json rows = Json::array();
    for (const Condition& condition : conditions)
        rows.push_back({{"key", condition.on}, {condition.isOneOf ? "one_of" : "none_of", condition.values}});
    return rows;
}

} // namespace

Json toJson(const Knob& knob)
{
    const bool bounded = knob.type == KnobType::Integer || knob.type == KnobType::Real;
    Json json = {{"key", knob.key}, {"group", knob.group}, {"label", knob.label}, {"type", typeName(knob.type)}};
    json["default"] = std::visit([](const auto& value) { return Json(value); }, knob.fallback);
    json["min"] = bounded ? Json(knob.min) : Json(nullptr);
    json["max"] = bounded ? Json(knob.max) : Json(nullptr);
    json["choices"] = knob.choices;
    json["unit"] = knob.unit;
    json["zero"] = knob.zero;
    json["path"] = knob.type == KnobType::Path ? Json(pathName(knob.path)) : Json(nullptr);
    json["when_empty"] = knob.type == KnobType::Path ? Json(knob.whenEmpty) : Json(nullptr);
    json["doc"] = knob.doc;
    json["where"] = knob.where;
    json["needs_gpu"] = knob.needsGpu;
    json["advanced"] = knob.advanced;
    json["objective"] = objectiveName(knob.objective);
    json["changes_batches"] = knob.batches != Batches::Same;
    json["batches"] = batchesName(knob.batches);
    json["batch_values"] = knob.batchValues;
    json["may_change_loss"] = knob.mayChangeLoss;
    json["comparable_loss"] = knob.comparableLoss;
    json["changes_training_samples"] = knob.changesTrainingSamples;
    json["scales_with_length"] = knob.scalesWithLength;
    json["batch_factor"] = knob.isBatchFactor;
    json["searches_batch"] = knob.searchesBatch;
    json["of_measurement"] = knob.isOfMeasurement;
    json["warm_up"] = warmUpName(knob.warmUp);
    json["search"] = searchName(knob.search);
    json["settings"] = knob.settings.empty() ? Json(nullptr) : Json(knob.settings);
    json["enabled_if"] = conditionsJson(knob.enabledIf);
    return json;
}

Json knobsJson()
{
    Json rows = Json::array();
    for (const Knob& knob : knobs())
        rows.push_back(toJson(knob));
    return rows;
}

} // namespace config
