#include "profiler/formats/pytorch/json_values.h"

#include "profiler/formats/pytorch/json_text.h"

#include <algorithm>

namespace profiler::formats::writers {

namespace {

bool takeDigits(std::string_view& text)
{
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count > 0;
}

/// Source: RFC 8259, section 6.
bool isNumber(std::string_view text)
{
    if (text.starts_with('-'))
        text.remove_prefix(1);
    if (text.starts_with('0') && text.size() > 1 && text[1] >= '0' && text[1] <= '9')
        return false;
    if (!takeDigits(text))
        return false;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (!takeDigits(text))
            return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-'))
            text.remove_prefix(1);
        if (!takeDigits(text))
            return false;
    }
    return text.empty();
}

/// Writes "[float, , Scalar]" as a list of strings.
void appendListElements(std::string& out, std::string_view text)
{
    text = text.substr(1, text.size() - 2);
    out += '[';
    while (!text.empty()) {
        const std::size_t end = text.find(", ");
        appendJsonString(out, text.substr(0, end));
        if (end == text.npos)
            break;
        out += ", ";
        text.remove_prefix(end + 2);
        if (text.empty()) // there is also an entry after the last comma
            out += "\"\"";
    }
    out += ']';
}

} // namespace

bool JsonValues::isContainer(std::string_view text)
{
    const bool looks = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('{') && text.ends_with('}'));
    return looks && m_parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

void JsonValues::append(std::string& out, std::string_view text)
{
    if (isNumber(text) || text == "true" || text == "false" || text == "null" || isContainer(text))
        out += text;
    else if (text.starts_with('[') && text.ends_with(']') && text.size() > 1)
        appendListElements(out, text);
    else
        appendJsonString(out, text);
}

} // namespace profiler::formats::writers
