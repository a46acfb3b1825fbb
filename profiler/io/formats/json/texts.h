#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::formats::json {

/// The text of raw JSON between quotes: escapes resolved, what is no UTF-8 replaced by U+FFFD.
std::string unescaped(std::string_view raw);

/// An array as people read it: without quotes and line breaks, one space after a comma: "[[64, 3], [], Scalar]".
std::string plainArray(std::string_view json);

/// Keeps the texts of arguments that columns hold. Used by a scanner; not thread-safe.
class ArgTexts {
public:
    virtual ~ArgTexts() = default;
    /// A StringId for an array of sizes or types.
    /// @param json  valid JSON
    virtual std::uint32_t intern(std::string_view json) = 0;
};

} // namespace profiler::formats::json
