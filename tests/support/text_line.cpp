#include "tests/support/text_line.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/core.h>
#include <string>
#include <utility>

namespace test_support {
namespace {

/// Reads a word, or a quoted part of one, starting at `at`, up to a space or `=`.
std::string readPart(std::string_view text, std::size_t& at, bool& closed)
{
    std::string part;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\' && at + 1 < text.size())
            part += text[++at] == 'n' ? '\n' : text[at];
        else if (!quoted && (c == ' ' || c == '\t' || c == '='))
            break;
        else
            part += c;
    }
    closed = !quoted;
    return part;
}

} // namespace

TextLine::TextLine(std::string_view text, int number) : m_text(text), m_number(number)
{
    bool closed = true;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ' || text[at] == '\t') {
            ++at;
            continue;
        }
        if (text[at] == '#')
            break;
        std::string part = readPart(text, at, closed);
        if (at < text.size() && text[at] == '=') {
            ++at;
            m_options.push_back({std::move(part), readPart(text, at, closed)});
        } else {
            m_words.push_back(std::move(part));
            m_ends.push_back(at);
        }
        if (!closed)
            fail("a quote is not closed");
    }
    if (m_words.empty() && !m_options.empty())
        fail("a line must start with a word");
}

const std::string& TextLine::word(std::size_t index) const
{
    if (index + 1 >= m_words.size())
        fail(fmt::format("'{}' must be followed by at least {} words", verb(), index + 1));
    return m_words[index + 1];
}

bool TextLine::has(std::string_view flag) const
{
    return std::find(m_words.begin() + 1, m_words.end(), flag) != m_words.end();
}

const std::string* TextLine::option(std::string_view key) const
{
    const auto found =
        std::find_if(m_options.begin(), m_options.end(), [&](const Option& option) { return option.key == key; });
    return found == m_options.end() ? nullptr : &found->value;
}

std::int64_t TextLine::number(std::string_view key, std::int64_t otherwise) const
{
    const std::string* value = option(key);
    return value ? toNumber(*value) : otherwise;
}

std::string TextLine::rest(std::size_t words) const
{
    const std::size_t at = m_text.find_first_not_of(" \t", m_ends.at(words));
    return at == std::string::npos ? std::string{} : m_text.substr(at);
}

std::int64_t TextLine::toNumber(std::string_view text) const
{
    char* end = nullptr;
    const std::string copy{text};
    const long long value = std::strtoll(copy.c_str(), &end, 10);
    if (copy.empty() || *end != '\0')
        fail(fmt::format("'{}' is not a whole number", text));
    return value;
}

double TextLine::toReal(std::string_view text) const
{
    char* end = nullptr;
    const std::string copy{text};
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != '\0')
        fail(fmt::format("'{}' is not a number", text));
    return value;
}

std::int64_t TextLine::toTime(std::string_view text) const
{
    constexpr double kMicrosecond = 1e3;
    const std::size_t unitAt = text.find_first_not_of("+-.0123456789");
    const std::string_view unit = unitAt == std::string_view::npos ? "us" : text.substr(unitAt);
    const std::string_view digits = text.substr(0, unitAt);
    for (const auto& [name, ns] : {std::pair{"ns", 1.0}, {"us", kMicrosecond}, {"ms", 1e6}, {"s", 1e9}}) {
        if (unit == name)
            return std::llround(toReal(digits) * ns);
    }
    fail(fmt::format("'{}' is not a time", text));
}

void TextLine::fail(std::string_view what) const
{
    fmt::print(stderr, "trace text, line {}: {}\n  {}\n", m_number, what, m_text);
    std::abort();
}

void TextLine::expect(std::size_t count, std::initializer_list<std::string_view> known) const
{
    if (words() < count)
        fail(fmt::format("'{}' must be followed by {} words", verb(), count));
    for (std::size_t i = count + 1; i < m_words.size(); ++i) {
        if (std::find(known.begin(), known.end(), m_words[i]) == known.end())
            fail(fmt::format("'{}' is an extra word", m_words[i]));
    }
    for (const Option& option : m_options) {
        if (std::find(known.begin(), known.end(), option.key) == known.end())
            fail(fmt::format("'{}=' is not a valid option here", option.key));
    }
}

} // namespace test_support
