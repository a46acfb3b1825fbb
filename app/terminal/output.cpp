#include "app/terminal/output.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace app::terminal {

namespace {

using Json = nlohmann::ordered_json;
using Omitted = std::map<std::string, std::size_t>;

// Beyond these, nothing is shortened further: a few rows and one line of text still say something.
constexpr std::size_t kFewestElements = 3, kShortestString = 200;

std::size_t longestArray(const Json& json)
{
    std::size_t longest = json.is_array() ? json.size() : 0;
    if (json.is_structured())
        for (const Json& element : json)
            longest = std::max(longest, longestArray(element));
    return longest;
}

std::size_t longestString(const Json& json)
{
    std::size_t longest = json.is_string() ? json.get_ref<const std::string&>().size() : 0;
    if (json.is_structured())
        for (const Json& element : json)
            longest = std::max(longest, longestString(element));
    return longest;
}

void limitArrays(Json& json, std::size_t most, const Json::json_pointer& path, Omitted& omitted)
{
    if (json.is_array() && json.size() > most) {
        omitted[path.to_string()] += json.size() - most;
        json.erase(json.begin() + static_cast<std::ptrdiff_t>(most), json.end());
    }
    if (json.is_array())
        for (std::size_t i = 0; i < json.size(); ++i)
            limitArrays(json[i], most, path / i, omitted);
    else if (json.is_object())
        for (auto& [key, value] : json.items())
            limitArrays(value, most, path / key, omitted);
}

/// Cuts before a character, not inside one.
void limitStrings(Json& json, std::size_t most)
{
    if (json.is_string()) {
        auto& text = json.get_ref<std::string&>();
        if (text.size() <= most)
            return;
        std::size_t end = most;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
            --end;
        text.resize(end);
        text += "…";
    } else if (json.is_structured()) {
        for (Json& element : json)
            limitStrings(element, most);
    }
}

/// The arrays that are still there; elements of an array that was shortened later are gone themselves.
Json omittedJson(const Json& json, const Omitted& omitted)
{
    Json rows = Json::object();
    for (const auto& [path, count] : omitted)
        if (json.contains(Json::json_pointer(path)))
            rows[path] = count;
    return rows;
}

} // namespace

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

std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine)
{
    return json.dump(inOneLine ? -1 : 2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json textOrNull(const std::string& text)
{
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json parametersJson(const profiler::Message& message)
{
    auto json = nlohmann::ordered_json::object();
    for (const profiler::MessageParameter& parameter : message.parameters)
        std::visit([&](const auto& value) { json[parameter.name] = value; }, parameter.value);
    return json;
}

nlohmann::ordered_json messageJson(const profiler::Message& message)
{
    if (message.empty())
        return nullptr;
    return {{"id", message.id.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(message.id)},
            {"parameters", parametersJson(message)},
            {"text", message.text}};
}

nlohmann::ordered_json messagesJson(const std::vector<profiler::Message>& messages)
{
    auto json = nlohmann::ordered_json::array();
    for (const profiler::Message& message : messages)
        json.push_back(messageJson(message));
    return json;
}

nlohmann::ordered_json textsJson(const std::vector<profiler::Message>& messages)
{
    auto json = nlohmann::ordered_json::array();
    for (const profiler::Message& message : messages)
        json.push_back(message.text);
    return json;
}

nlohmann::ordered_json errorJson(const profiler::Error& error)
{
    return {{"id", error.what.id},
            {"parameters", parametersJson(error.what)},
            {"what", error.what.text},
            {"where", error.where},
            {"hint", error.hint}};
}

bool shorten(Json& json, std::size_t bytes)
{
    const auto size = [&] { return jsonText(json, true).size(); };
    Omitted omitted;
    bool isCut = false;
    const auto fits = [&] {
        if (!omitted.empty())
            json["omitted"] = omittedJson(json, omitted);
        if (isCut)
            json["shortened"] = true;
        return size() <= bytes;
    };
    while (!fits()) {
        json.erase("omitted");
        const std::size_t elements = longestArray(json), characters = longestString(json);
        if (elements > kFewestElements) {
            limitArrays(json, std::max(kFewestElements, elements / 2), Json::json_pointer(), omitted);
        } else if (characters > kShortestString + 3) { // "…" has three bytes
            limitStrings(json, std::max(kShortestString, characters / 2));
            isCut = true;
        } else {
            return false;
        }
    }
    return true;
}

} // namespace app::terminal
