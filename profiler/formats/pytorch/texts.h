#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::formats::json {

/// The text of a raw JSON string, without quotes: escapes are resolved, invalid UTF-8 is replaced by U+FFFD.
std::string unescaped(std::string_view raw);

/// A readable array, without quotes and line breaks, with one space after each comma: "[[64, 3], [], Scalar]".
std::string plainArray(std::string_view json);

/// Stores the texts of arguments that have a column. Used by one scanner; not thread-safe.
class ArgTexts {
public:
    virtual ~ArgTexts() = default;
    /// The StringId of an array of sizes or types.
    /// @param json  valid JSON
    virtual std::uint32_t intern(std::string_view json) = 0;
};

} // namespace profiler::formats::json
