#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

/// How the commands print: text in columns, and JSON.
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

/// Formats JSON for programs, indented or on one line. Names in traces, paths and command lines may not be UTF-8:
/// invalid bytes become U+FFFD.
std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine = false);

/// The text; null if it is empty.
nlohmann::ordered_json textOrNull(const std::string& text);
/// {"name": value}: numbers in µs, bytes, shares of 1 or counts.
nlohmann::ordered_json parametersJson(const profiler::Message& message);
/// {"id", "parameters", "text"}; null for an empty message. The id is null for text from another program.
nlohmann::ordered_json messageJson(const profiler::Message& message);
/// messageJson() of each message.
nlohmann::ordered_json messagesJson(const std::vector<profiler::Message>& messages);
/// Only the texts.
nlohmann::ordered_json textsJson(const std::vector<profiler::Message>& messages);
/// {"id", "parameters", "what", "where", "hint"}.
nlohmann::ordered_json errorJson(const profiler::Error& error);

/// Shortens JSON to at most `bytes` of text, for readers that pay for each byte. The longest arrays lose their last
/// elements first, then long strings lose their ends; objects keep all of their keys. Order is kept, so what a command
/// prints first (it sorts by importance) remains.
/// @param json  an object; if it was shortened, it gets "omitted": {"/path/of/array": number of elements left out}, and
///              "shortened": true if strings were shortened
/// @param bytes  at least 1000
/// @return false if the keys alone are longer; then `json` is of no use
bool shorten(nlohmann::ordered_json& json, std::size_t bytes);

} // namespace app::terminal
