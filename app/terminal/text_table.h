#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace app::terminal {

/// Columns of text for a terminal.
class TextTable {
public:
    /// The first column is left-aligned, the others right-aligned.
    explicit TextTable(std::vector<std::string> header) : m_rows{std::move(header)}
    {
        m_rightAligned.assign(m_rows.front().size(), true);
        m_rightAligned[0] = false;
    }
    /// @param rightAligned  by column
    TextTable(std::vector<std::string> header, std::vector<bool> rightAligned)
        : m_rows{std::move(header)}, m_rightAligned(std::move(rightAligned))
    {
    }
    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
    [[nodiscard]] bool empty() const { return m_rows.size() == 1; }
    /// Each line is indented by two blanks and ends with a line break.
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::vector<std::string>> m_rows; ///< starts with the header
    std::vector<bool> m_rightAligned;             ///< by column
};

/// Number of characters in a UTF-8 text; all of ours are one column wide.
std::size_t shownWidth(const std::string& text);
/// Breaks the text at blanks so that no line is longer than `width`, and indents each line by `indent` blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

} // namespace app::terminal
