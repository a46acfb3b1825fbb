#include "app/terminal/bounded_json.h"

#include "app/terminal/json_text.h"

#include <algorithm>
#include <map>
#include <string>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;

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

using Omitted = std::map<std::string, std::size_t>;

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
