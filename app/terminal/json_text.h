#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <nlohmann/json.hpp>

#include <string>

namespace app::terminal {

/// Formats JSON for programs, indented or on one line. Names in traces, paths and command lines may not be UTF-8:
/// invalid bytes become U+FFFD.
std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine = false);

/// {"name": value}: numbers in µs, bytes, shares of 1 or counts.
nlohmann::ordered_json parametersJson(const profiler::Message& message);
/// {"id", "parameters", "text"}; null for an empty message. The id is null for text from another program.
nlohmann::ordered_json messageJson(const profiler::Message& message);
/// messageJson() of each message.
nlohmann::ordered_json messagesJson(const std::vector<profiler::Message>& messages);
/// Only the texts.
nlohmann::ordered_json textsJson(const std::vector<profiler::Message>& messages);
/// {"id", "parameters", "what", "where", "mend"}.
nlohmann::ordered_json errorJson(const profiler::Error& error);

} // namespace app::terminal
