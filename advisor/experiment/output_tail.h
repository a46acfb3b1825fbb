#pragma once

#include <string>
#include <string_view>

namespace advisor {

/// The end of a program's output, whatever its length.
class OutputTail {
public:
    void add(std::string_view text);
    /// The last lines (at most twenty) as valid UTF-8 without control characters, ready to be shown and stored.
    [[nodiscard]] std::string lastLines() const;

private:
    std::string m_text;
};

/// True if an error is about a resource that two programs may lack together but one of them could get: memory, or a
/// port that the program's text mentions.
bool namesScarceResource(std::string_view error);
/// True if the error says that a file could not be written because of its size.
bool namesFullDisk(std::string_view error);
/// True if the error is about the port.
bool namesTakenPort(std::string_view error);

} // namespace advisor
