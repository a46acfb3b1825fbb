#pragma once

#include <simdjson.h>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Writes texts from a file as JSON values. Not thread-safe.
class JsonValues {
public:
    /// Appends numbers, true, false, null, lists and objects unchanged, and any other text as a string. The elements of
    /// a list without quotes ("[float, Scalar]") are quoted.
    void append(std::string& out, std::string_view text);
    /// True for a complete JSON list or object.
    bool isContainer(std::string_view text);

private:
    simdjson::dom::parser m_parser;
};

} // namespace profiler::formats::writers
