#include "app/terminal/text_table.h"

#include <algorithm>
#include <sstream>

namespace app::terminal {

using namespace advisor;

std::size_t shownWidth(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string TextTable::text() const
{
    std::vector<std::size_t> widths(m_rows.front().size());
    for (const auto& row : m_rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], shownWidth(row[i]));
    std::string text;
    for (const auto& row : m_rows) {
        std::string line = "  ";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string blanks(widths[i] - shownWidth(row[i]), ' ');
            line += (i == 0 ? "" : "  ") + (m_rightAligned[i] ? blanks + row[i] : row[i] + blanks);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent)
{
    const std::string margin(indent, ' ');
    std::istringstream words(text);
    std::string result, line = margin;
    for (std::string word; words >> word;) {
        if (line != margin && shownWidth(line) + 1 + shownWidth(word) > width) {
            result += line + '\n';
            line = margin;
        }
        line += (line == margin ? "" : " ") + word;
    }
    return result + line + '\n';
}

} // namespace app::terminal
