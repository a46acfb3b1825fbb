#pragma once

#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace config {

/// Reads what toText() writes; nullopt when `text` is no value of the knob's type, out of range or no choice.
std::optional<Value> parseValue(const Knob& knob, std::string_view text);
/// True when a value of the right type lies in the knob's range or choices.
bool isAllowed(const Knob& knob, const Value& value);
/// The keys that `key` was most likely meant to be, likeliest first, at most three: "a, b, c".
std::string nearestKeys(std::string_view key);

} // namespace config
