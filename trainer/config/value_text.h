#pragma once

#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace config {

/// Parses what toText() writes; nullopt if `text` is not a value of the knob's type, is out of range or is not a
/// choice.
std::optional<Value> parseValue(const Knob& knob, std::string_view text);
/// True if the value is in the knob's range or is one of its choices; it must have the right type.
bool isAllowed(const Knob& knob, const Value& value);
/// The keys that `key` most likely means, most likely first, at most three: "a, b, c".
std::string nearestKeys(std::string_view key);

} // namespace config
