#pragma once

#include <simdjson.h>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Writes texts that were read from a file as JSON values. Not thread-safe.
class JsonValues {
public:
    /// Appends a number, true, false, null, a list or an object as it stands, any other text as a string. A list
    /// whose words have no quotes ("[float, Scalar]") gets them.
    void append(std::string& out, std::string_view text);
    /// True for a whole JSON list or object.
    bool isContainer(std::string_view text);

private:
    simdjson::dom::parser m_parser;
};

} // namespace profiler::formats::writers
