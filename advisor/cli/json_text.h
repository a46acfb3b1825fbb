#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace advisor::cli {

/// JSON as programs read it: indented, or all in one line. Names in traces, paths and command lines need not be UTF-8:
/// what is not stands as U+FFFD.
std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine = false);

} // namespace advisor::cli
