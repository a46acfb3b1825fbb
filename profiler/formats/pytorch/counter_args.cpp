#include "profiler/formats/pytorch/counter_args.h"

#include "profiler/formats/pytorch/bytes.h"

#include <algorithm>
#include <charconv>
#include <simdjson.h>

namespace profiler::formats::json {

bool CounterArgs::read(std::string_view json)
{
    return readPlain(json) || readAny(json);
}

/// The fast path for nearly all counters: keys without escapes, and numbers.
bool CounterArgs::readPlain(std::string_view json)
{
    m_entries.clear();
    const char* p = json.data();
    const char* end = p + json.size();
    const auto skip = [&] {
        while (p < end && isSpace(*p))
            ++p;
        return p < end ? *p : '\0';
    };
    if (skip() != '{')
        return false;
    do {
        ++p;
        if (skip() != '"')
            return false;
        const char* key = ++p;
        p = std::find_if(p, end, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
        if (p == end || *p != '"')
            return false;
        const std::string_view name(key, static_cast<std::size_t>(p - key));
        ++p;
        if (skip() != ':')
            return false;
        ++p;
        const char first = skip();
        if (!isDigit(first) && !(first == '-' && p + 1 < end && isDigit(p[1])))
            return false;
        double value = 0;
        const auto [after, error] = std::from_chars(p, end, value);
        if (error != std::errc{})
            return false;
        p = after;
        m_entries.emplace_back(name, value);
    } while (skip() == ',');
    m_count = m_entries.size();
    return p < end && *p == '}';
}

bool CounterArgs::readAny(std::string_view json)
{
    m_entries.clear();
    simdjson::dom::parser parser;
    simdjson::dom::object values;
    if (parser.parse(simdjson::padded_string(json)).get(values) != simdjson::SUCCESS)
        return false;
    m_count = values.size();
    m_keys.clear();
    m_keys.reserve(m_count);
    for (const auto& [key, value] : values)
        if (double number = 0; value.get(number) == simdjson::SUCCESS)
            m_entries.emplace_back(m_keys.emplace_back(key), number);
    return true;
}

} // namespace profiler::formats::json
