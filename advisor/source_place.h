#pragma once

#include <string>

namespace advisor {

/// A place in a user's file: a call, from its first to its last character.
struct SourcePlace {
    std::string file;     ///< absolute path
    int line = 0;         ///< starting at 1
    int endLine = 0;      ///< not before `line`
    int column = 0;       ///< byte offset in the line
    int endColumn = 0;    ///< in the last line; after the last character
    std::string function; ///< the function that contains it: "main"
    std::string what;     ///< description of the place: "DataLoader (training)"

    friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

} // namespace advisor
