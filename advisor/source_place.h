#pragma once

#include <string>

namespace advisor {

/// A place in a user's file: a call, from its first to its last character.
struct SourcePlace {
    std::string file;     ///< absolute path
    int line = 0;         ///< from 1
    int endLine = 0;      ///< not before `line`
    int column = 0;       ///< bytes from the line's start
    int endColumn = 0;    ///< in the last line; behind the last character
    std::string function; ///< that contains it: "main"
    std::string what;     ///< what is there, in words: "DataLoader (training)"

    friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

} // namespace advisor
