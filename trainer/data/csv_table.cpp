#include "trainer/data/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>
#include <optional>

namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;

constexpr std::size_t kMostShown = 40; // of a faulty cell

/// Splits the text into cells, one row at a time.
class CsvLines {
public:
    explicit CsvLines(std::string_view text) : m_rest(text)
    {
        if (m_rest.starts_with("\xef\xbb\xbf"))
            m_rest.remove_prefix(3);
    }
    /// Cells of the next non-empty row; false at the end.
    bool next(std::vector<std::string>& cells)
    {
        while (!m_rest.empty()) {
            cells.clear();
            ++m_row;
            do
                cells.push_back(cell());
            while (takeComma());
            if (cells.size() > 1 || !cells[0].empty())
                return true;
        }
        return false;
    }
    [[nodiscard]] std::int64_t row() const { return m_row; } ///< counts from 1; ignores line breaks in quotes
    /// An unclosed quote swallows the rest of the file.
    [[nodiscard]] bool openQuote() const { return m_openQuote; }

private:
    std::string cell()
    {
        if (m_rest.starts_with('"'))
            return quoted();
        const auto end = std::min(m_rest.find_first_of(",\r\n"), m_rest.size());
        std::string text(m_rest.substr(0, end));
        m_rest.remove_prefix(end);
        return text;
    }
    std::string quoted()
    {
        std::string text;
        m_rest.remove_prefix(1);
        for (;;) {
            const auto quote = m_rest.find('"');
            if (quote == std::string_view::npos) {
                m_openQuote = true;
                m_rest = {};
                return text;
            }
            text += m_rest.substr(0, quote);
            m_rest.remove_prefix(quote + 1);
            if (!m_rest.starts_with('"'))
                break;
            text += '"';
            m_rest.remove_prefix(1);
        }
        // Text after a closing quote belongs to the cell, which is then not a number.
        const auto end = std::min(m_rest.find_first_of(",\r\n"), m_rest.size());
        text += m_rest.substr(0, end);
        m_rest.remove_prefix(end);
        return text;
    }
    bool takeComma()
    {
        if (m_rest.starts_with(',')) {
            m_rest.remove_prefix(1);
            return true;
        }
        if (m_rest.starts_with("\r\n"))
            m_rest.remove_prefix(2);
        else if (!m_rest.empty())
            m_rest.remove_prefix(1);
        return false;
    }

    std::string_view m_rest;
    std::int64_t m_row = 0;
    bool m_openQuote = false;
};

std::optional<float> number(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    float value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

class CsvReading {
public:
    CsvReading(std::string_view text, const CsvTarget& target, const std::string& where)
        : m_lines(text), m_wanted(target), m_where(where)
    {
    }

    Result<CsvTable> read()
    {
        if (!m_lines.next(m_names))
            return profiler::fail<"data.csv.empty", "the table is empty">(Error::Code::Malformed, m_where,
                                                                          "choose another file");
        if (auto found = findTarget(); !found)
            return tl::unexpected(found.error());
        std::vector<std::string> cells;
        while (m_lines.next(cells))
            if (auto row = takeRow(cells); !row)
                return tl::unexpected(row.error());
        if (m_table.targets.empty())
            return profiler::fail<"data.csv.no_rows", "the table has column names but no rows">(
                Error::Code::Malformed, m_where, "choose another file");
        return std::move(m_table);
    }

private:
    Result<void> findTarget()
    {
        const auto found = m_wanted.column.empty() ? std::prev(m_names.end())
                                                   : std::find(m_names.begin(), m_names.end(), m_wanted.column);
        if (found == m_names.end())
            return profiler::fail<"data.csv.no_column", "there is no column '{column}'; there are {columns}">(
                Error::Code::Invalid, m_where, "set dataset.target_column to one of them",
                {{"column", m_wanted.column}, {"columns", fmt::format("{}", fmt::join(m_names, ", "))}});
        if (m_names.size() < 2)
            return profiler::fail<"data.csv.one_column", "the table has only one column: there is nothing to predict "
                                                         "from">(Error::Code::Invalid, m_where,
                                                                 "separate the columns by commas");
        m_targetColumn = static_cast<std::size_t>(found - m_names.begin());
        m_table.target = *found;
        m_table.features = m_names;
        m_table.features.erase(m_table.features.begin() + static_cast<std::ptrdiff_t>(m_targetColumn));
        return {};
    }

    Result<void> takeRow(const std::vector<std::string>& cells)
    {
        if (m_lines.openQuote())
            return profiler::fail<"data.csv.open_quote", "a quote is not closed">(
                Error::Code::Malformed, fmt::format("{}, row {}", m_where, m_lines.row()), "close the quote");
        if (cells.size() != m_names.size())
            return profiler::fail<"data.csv.row_length", "the row has {cells} cells, but the header has {columns} "
                                                         "columns">(
                Error::Code::Malformed, fmt::format("{}, row {}", m_where, m_lines.row()), "repair or remove the row",
                {{"cells", cells.size()}, {"columns", m_names.size()}});
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto value = number(cells[i]);
            if (!value)
                return wrong(i,
                             cells[i].empty()
                                 ? profiler::message<"data.csv.empty_cell", "the cell is empty">()
                                 : profiler::message<"data.csv.no_number", "the cell is not a number: '{cell}'">(
                                       {{"cell", shown(cells[i])}}),
                             "enter numbers, or remove the row or the column");
            if (i != m_targetColumn) {
                m_table.values.push_back(*value);
                continue;
            }
            if (m_wanted.classes > 0 &&
                (*value != std::floor(*value) || *value < 0 || *value >= static_cast<float>(m_wanted.classes)))
                return wrong(i,
                             profiler::message<"data.csv.no_class", "the label is not a class from 0 to {most}: "
                                                                    "'{cell}'">(
                                 {{"most", m_wanted.classes - 1}, {"cell", shown(cells[i])}}),
                             "correct it, set dataset.classes, or set dataset.target=number");
            m_table.targets.push_back(*value);
        }
        return {};
    }

    static std::string shown(const std::string& cell) { return cell.substr(0, kMostShown); }

    [[nodiscard]] Result<void> wrong(std::size_t column, profiler::Message what, std::string hint) const
    {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what),
                                    fmt::format("{}, row {}, column {}", m_where, m_lines.row(), m_names[column]),
                                    std::move(hint)});
    }

    CsvLines m_lines;
    const CsvTarget& m_wanted;
    const std::string& m_where;
    std::vector<std::string> m_names;
    std::size_t m_targetColumn = 0;
    CsvTable m_table;
};

} // namespace

Result<CsvTable> parseCsv(std::string_view text, const CsvTarget& target, const std::string& where)
{
    return CsvReading(text, target, where).read();
}

} // namespace trainer::data
