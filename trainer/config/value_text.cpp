#include "trainer/config/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace config {

namespace {

template <class Number>
std::optional<Number> parseNumber(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

// Length of a well-formed sequence by its first byte; 0 for a byte that cannot start one.
std::size_t utf8Length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The second byte of some sequences has a narrower range: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isSecondByte(unsigned char first, unsigned char second)
{
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

// JSON only holds valid UTF-8, and a path cannot contain a NUL byte.
bool isText(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first == 0 ? 0 : utf8Length(first);
        if (length == 0 || at + length > text.size())
            return false;
        if (length > 1 && !isSecondByte(first, static_cast<unsigned char>(text[at + 1])))
            return false;
        for (std::size_t i = 2; i < length; ++i)
            if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80)
                return false;
        at += length;
    }
    return true;
}

std::optional<Value> parseByType(const Knob& knob, std::string_view text)
{
    switch (knob.type) {
    case KnobType::Flag:
        return text == "true"    ? std::optional<Value>(true)
               : text == "false" ? std::optional<Value>(false)
                                 : std::nullopt;
    case KnobType::Integer:
        if (const auto number = parseNumber<std::int64_t>(text))
            return *number;
        return std::nullopt;
    case KnobType::Real:
        if (const auto number = parseNumber<double>(text))
            return *number;
        return std::nullopt;
    case KnobType::Choice:
    case KnobType::Path:
    case KnobType::Text:
        return std::string(text);
    }
    return std::nullopt;
}

// Levenshtein distance.
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

// A key without its group ("workers"), or only the group ("loader"), counts as a typo of two letters.
std::size_t keyDistance(std::string_view wrong, std::string_view key)
{
    const bool isPart = !wrong.empty() && key.find(wrong) != std::string_view::npos;
    return std::min(editDistance(wrong, key), isPart ? std::size_t{2} : std::size_t{1000});
}

} // namespace

std::string toText(const Value& value)
{
    if (const bool* flag = std::get_if<bool>(&value))
        return *flag ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    std::array<char, 32> buffer{}; // the shortest text that reads back as the same double has at most 24 characters
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::get<double>(value)).ptr;
    return {buffer.data(), end};
}

bool isAllowed(const Knob& knob, const Value& value)
{
    const auto inRange = [&](double number) { return number >= knob.min && number <= knob.max; };
    switch (knob.type) {
    case KnobType::Flag:
        return true;
    case KnobType::Integer:
        return inRange(static_cast<double>(std::get<std::int64_t>(value)));
    case KnobType::Real:
        return std::isfinite(std::get<double>(value)) && inRange(std::get<double>(value));
    case KnobType::Choice:
        return std::find(knob.choices.begin(), knob.choices.end(), std::get<std::string>(value)) != knob.choices.end();
    case KnobType::Path:
    case KnobType::Text:
        return isText(std::get<std::string>(value));
    }
    return false;
}

std::optional<Value> parseValue(const Knob& knob, std::string_view text)
{
    auto value = parseByType(knob, text);
    return value && isAllowed(knob, *value) ? value : std::nullopt;
}

std::string nearestKeys(std::string_view key)
{
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const Knob& knob : knobs())
        near.emplace_back(keyDistance(key, knob.key), knob.key);
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    // Keys far worse than the best match would only distract.
    const std::size_t worst = std::max<std::size_t>(near.front().first * 2, 2);
    std::vector<std::string_view> names;
    for (const auto& [distance, name] : near)
        if (names.size() < 3 && distance <= worst)
            names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace config
