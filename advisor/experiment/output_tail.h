#pragma once

#include <string>
#include <string_view>

namespace advisor {

/// The end of what a program printed, however much that was.
class OutputTail {
public:
    void add(std::string_view text);
    /// The last lines (at most twenty) as valid UTF-8 without control characters, so that they can be shown and stored
    /// as they are.
    [[nodiscard]] std::string lastLines() const;

private:
    std::string m_text;
};

/// Whether an error is about what two programs at once may lack and one of them can have: memory, or a port that the
/// program's text names.
bool namesScarceResource(std::string_view error);
/// Whether it is about the port.
bool namesTakenPort(std::string_view error);

} // namespace advisor
