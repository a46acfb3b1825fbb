#pragma once

#include "trainer/config/training_config.h"

#include <nlohmann/json.hpp>

namespace config {

/// A row of the knob table for other programs: key, group, label, type, default, min and max (null if there are none),
/// choices, unit, doc, where, needs_gpu, advanced.
nlohmann::ordered_json toJson(const Knob& knob);
/// The whole table, in its own order.
nlohmann::ordered_json knobsJson();

} // namespace config
