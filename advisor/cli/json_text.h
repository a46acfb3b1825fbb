#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <nlohmann/json.hpp>

#include <string>

namespace advisor::cli {

/// JSON as programs read it: indented, or all in one line. Names in traces, paths and command lines need not be UTF-8:
/// what is not stands as U+FFFD.
std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine = false);

/// {"name": value}: numbers in µs, bytes, shares of 1 or counts.
nlohmann::ordered_json parametersJson(const profiler::Message& message);
/// {"id", "parameters", "text"}; null for an empty message. The id of text that comes from another program is null.
nlohmann::ordered_json messageJson(const profiler::Message& message);
/// messageJson() of each.
nlohmann::ordered_json messagesJson(const std::vector<profiler::Message>& messages);
/// The texts alone.
nlohmann::ordered_json textsJson(const std::vector<profiler::Message>& messages);
/// {"id", "parameters", "what", "where", "mend"}.
nlohmann::ordered_json errorJson(const profiler::Error& error);

} // namespace advisor::cli
