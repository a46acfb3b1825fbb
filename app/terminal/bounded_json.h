#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

namespace app::terminal {

/// Shortens JSON to at most `bytes` of text, for readers that pay for each byte. The longest arrays lose their last
/// elements first, then long strings lose their ends; objects keep all of their keys. Order is kept, so what a command
/// prints first (it sorts by importance) remains.
/// @param json  an object; if it was shortened, it gets "omitted": {"/path/of/array": number of elements left out}, and
///              "shortened": true if strings were shortened
/// @param bytes  at least 1000
/// @return false if the keys alone are longer; then `json` is of no use
bool shorten(nlohmann::ordered_json& json, std::size_t bytes);

} // namespace app::terminal
