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
    json["doc"] = knob.doc;
    json["where"] = knob.where;
    json["needs_gpu"] = knob.needsGpu;
    json["advanced"] = knob.advanced;
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
