#include "profiler/formats/container/details_values.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace profiler::packed {
namespace {

enum class Coding : std::uint8_t {
    Numbers, ///< a column of mantissas, and a column with their numbers of decimal places
    Steps,   ///< as Numbers, but with differences between consecutive mantissas
    Texts,   ///< the distinct texts, and a column of indexes
};

constexpr std::size_t kMostDigits = 17; ///< always fits in 64 bits

/// 12.50 is stored as 1250 with two decimal places.
struct Number {
    std::int64_t mantissa = 0;
    std::int64_t digits = 0;
};

std::string textOf(Number number)
{
    std::string text = std::to_string(number.mantissa);
    if (number.digits == 0)
        return text;
    const std::size_t sign = number.mantissa < 0 ? 1 : 0;
    const auto digits = static_cast<std::size_t>(number.digits);
    if (text.size() - sign <= digits)
        text.insert(sign, digits + 1 + sign - text.size(), '0');
    text.insert(text.size() - digits, 1, '.');
    return text;
}

/// Empty if the number would not convert back to the same text: a plus sign, a leading zero, an exponent, or too many
/// digits.
std::optional<Number> numberOf(std::string_view text)
{
    const bool negative = text.starts_with('-');
    text.remove_prefix(negative ? 1 : 0);
    const std::size_t point = text.find('.');
    const std::size_t whole = std::min(point, text.size());
    Number number;
    number.digits = point == text.npos ? 0 : static_cast<std::int64_t>(text.size() - point - 1);
    const bool needlessZero = whole > 1 && text.front() == '0';
    const bool endsWithPoint = point != text.npos && number.digits == 0;
    if (whole == 0 || needlessZero || endsWithPoint || text.size() > kMostDigits + 1)
        return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == point)
            continue;
        if (text[i] < '0' || text[i] > '9')
            return std::nullopt;
        number.mantissa = number.mantissa * 10 + (text[i] - '0');
    }
    if (negative && number.mantissa == 0)
        return std::nullopt;
    number.mantissa = negative ? -number.mantissa : number.mantissa;
    return number;
}

bool putNumbers(ByteWriter& writer, std::span<const std::string_view> values)
{
    std::vector<std::int64_t> mantissas, digits, steps;
    std::int64_t last = 0;
    for (const std::string_view value : values) {
        const auto number = numberOf(value);
        if (!number)
            return false;
        // Differences wrap around, and so do the sums when reading.
        const auto step = static_cast<std::uint64_t>(number->mantissa) - static_cast<std::uint64_t>(last);
        steps.push_back(mantissas.empty() ? 0 : static_cast<std::int64_t>(step));
        last = number->mantissa;
        mantissas.push_back(last);
        digits.push_back(number->digits);
    }
    const auto spread = [](const std::vector<std::int64_t>& column) {
        const auto [low, high] = std::minmax_element(column.begin(), column.end());
        return static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    };
    const bool stepped = !values.empty() && spread(steps) < spread(mantissas);
    writer.put(stepped ? Coding::Steps : Coding::Numbers);
    if (stepped)
        writer.put(mantissas.front());
    writer.putColumn(stepped ? steps : mantissas);
    writer.putColumn(digits);
    return true;
}

void putTexts(ByteWriter& writer, std::span<const std::string_view> values)
{
    std::unordered_map<std::string_view, std::int64_t> numbers;
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> which;
    for (const std::string_view value : values) {
        const auto [place, isNew] = numbers.try_emplace(value, static_cast<std::int64_t>(texts.size()));
        if (isNew)
            texts.push_back(value);
        which.push_back(place->second);
    }
    writer.put(Coding::Texts);
    writer.put(static_cast<std::uint32_t>(texts.size()));
    for (const std::string_view text : texts)
        writer.putText(text);
    writer.putColumn(which);
}

std::optional<std::vector<std::string>> takeNumbers(ByteReader& reader, std::size_t count, bool stepped)
{
    std::vector<std::int64_t> mantissas(count), digits(count);
    const std::int64_t first = stepped ? reader.take<std::int64_t>() : 0;
    reader.takeColumn(mantissas);
    reader.takeColumn(digits);
    if (reader.failed())
        return std::nullopt;
    std::vector<std::string> texts;
    texts.reserve(count);
    auto last = static_cast<std::uint64_t>(first);
    for (std::size_t i = 0; i < count; ++i) {
        last = (stepped ? last : 0) + static_cast<std::uint64_t>(mantissas[i]);
        if (digits[i] < 0 || digits[i] > static_cast<std::int64_t>(kMostDigits) + 1)
            return std::nullopt;
        texts.push_back(textOf({static_cast<std::int64_t>(last), digits[i]}));
    }
    return texts;
}

std::optional<std::vector<std::string>> takeTexts(ByteReader& reader, std::size_t count, std::size_t& room)
{
    std::vector<std::string_view> texts;
    for (std::uint32_t different = reader.takeCount(sizeof different); different > 0 && !reader.failed(); --different)
        texts.push_back(reader.takeText());
    std::vector<std::int64_t> which(count);
    reader.takeColumn(which);
    if (reader.failed())
        return std::nullopt;
    std::vector<std::string> all;
    all.reserve(count);
    for (const std::int64_t number : which) {
        if (number < 0 || static_cast<std::size_t>(number) >= texts.size())
            return std::nullopt;
        const std::string_view text = texts[static_cast<std::size_t>(number)];
        if (text.size() > room) // a text that is repeated a thousand times needs more than its size in the section
            return std::nullopt;
        room -= text.size();
        all.emplace_back(text);
    }
    return all;
}

} // namespace

void putValues(ByteWriter& writer, std::span<const std::string_view> values)
{
    if (!putNumbers(writer, values))
        putTexts(writer, values);
}

std::optional<std::vector<std::string>> takeValues(ByteReader& reader, std::size_t count, std::size_t& room)
{
    switch (reader.take<Coding>()) {
    case Coding::Numbers:
        return takeNumbers(reader, count, false);
    case Coding::Steps:
        return takeNumbers(reader, count, true);
    case Coding::Texts:
        return takeTexts(reader, count, room);
    }
    return std::nullopt;
}

} // namespace profiler::packed
