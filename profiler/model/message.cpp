#include "profiler/model/message.h"

#include <array>
#include <cassert>
#include <charconv>
#include <map>
#include <ostream>
#include <utility>

namespace profiler {

namespace {

/// Filled before main() by the initializers of detail::RegisteredMessage.
std::map<std::string_view, std::string_view>& registered()
{
    static std::map<std::string_view, std::string_view> texts;
    return texts;
}

/// Returns the one of "is|are" that agrees with the number.
std::string_view choice(std::string_view oneAndMany, const MessageParameter& parameter)
{
    const std::size_t bar = oneAndMany.find('|');
    const auto* number = std::get_if<std::int64_t>(&parameter.value);
    assert(bar != oneAndMany.npos && number && "a choice needs two texts and a whole number");
    return number && *number == 1 ? oneAndMany.substr(0, bar) : oneAndMany.substr(bar + 1);
}

/// The text with each "{name}" replaced by that parameter. Braces that name no parameter stay as they are.
std::string filled(std::string_view text, const std::vector<MessageParameter>& parameters)
{
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find('{', at);
        const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
        if (close == text.npos)
            return result += text.substr(at);
        result += text.substr(at, open - at);
        const std::string_view inside = text.substr(open + 1, close - open - 1);
        const std::string_view name = inside.substr(0, inside.find('|'));
        const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                            [&](const MessageParameter& candidate) { return candidate.name == name; });
        assert(parameter != parameters.end() && "the text of a message uses a parameter without a value");
        result += parameter == parameters.end()  ? text.substr(open, close + 1 - open)
                  : name.size() == inside.size() ? std::string_view(parameter->text)
                                                 : choice(inside.substr(name.size() + 1), *parameter);
        at = close + 1;
    }
    return result;
}

constexpr char kSeparator = '\x1f';

/// A field of a message line: separators and line breaks are removed.
std::string withoutSeparators(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == kSeparator || c == '\n'; }, ' ');
    return text;
}

std::string exactText(double number)
{
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

template <class Number>
Number numberIn(std::string_view text)
{
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

MessageParameter::MessageParameter(std::string_view parameter, std::string_view shown)
    : name(parameter), value(std::string(shown)), text(shown)
{
}
MessageParameter::MessageParameter(std::string_view parameter, double number, std::string_view shown)
    : name(parameter), value(number), text(shown)
{
}
MessageParameter::MessageParameter(Exact /*kind*/, std::string_view parameter, std::int64_t number,
                                   std::string_view shown)
    : name(parameter), value(number), text(shown.empty() ? std::to_string(number) : std::string(shown))
{
}

Message::Message(std::string messageId, std::vector<MessageParameter> values, std::string sentence)
    : id(std::move(messageId)), parameters(std::move(values)), text(std::move(sentence))
{
}

const MessageParameter* Message::find(std::string_view name) const
{
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const MessageParameter& parameter) { return parameter.name == name; });
    return found != parameters.end() ? &*found : nullptr;
}

Message foreignText(std::string text)
{
    return {{}, {}, std::move(text)};
}

std::string messageLine(const Message& message)
{
    std::string line = withoutSeparators(message.text);
    if (message.id.empty())
        return line;
    line += kSeparator + message.id;
    for (const MessageParameter& parameter : message.parameters) {
        line += kSeparator + parameter.name + kSeparator;
        if (const auto* whole = std::get_if<std::int64_t>(&parameter.value))
            line += 'i' + std::to_string(*whole);
        else if (const auto* number = std::get_if<double>(&parameter.value))
            line += 'd' + exactText(*number);
        else
            line += 's' + withoutSeparators(std::get<std::string>(parameter.value));
        line += kSeparator + withoutSeparators(parameter.text);
    }
    return line;
}

std::string messageLines(const std::vector<Message>& messages)
{
    std::string lines;
    for (const Message& message : messages)
        lines += (lines.empty() ? "" : "\n") + messageLine(message);
    return lines;
}

Message messageOfLine(std::string_view line)
{
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at != line.npos;) {
        const std::size_t end = line.find(kSeparator, at);
        fields.push_back(line.substr(at, end == line.npos ? end : end - at));
        at = end == line.npos ? end : end + 1;
    }
    Message message = foreignText(std::string(fields.front()));
    if (fields.size() < 2 || fields.size() % 3 != 2)
        return message;
    message.id = fields[1];
    for (std::size_t i = 2; i < fields.size(); i += 3) {
        MessageParameter parameter(fields[i], fields[i + 2]);
        const std::string_view value = fields[i + 1].substr(fields[i + 1].empty() ? 0 : 1);
        const char kind = fields[i + 1].empty() ? 's' : fields[i + 1].front();
        if (kind == 'i')
            parameter.value = numberIn<std::int64_t>(value);
        else if (kind == 'd')
            parameter.value = numberIn<double>(value);
        else
            parameter.value = std::string(value);
        message.parameters.push_back(std::move(parameter));
    }
    return message;
}

std::ostream& operator<<(std::ostream& out, const Message& message)
{
    return out << (message.id.empty() ? "" : message.id + ": ") << message.text;
}

std::vector<MessageText> messageTexts()
{
    std::vector<MessageText> texts;
    for (const auto& [id, text] : registered())
        texts.push_back({id, text});
    return texts;
}

bool detail::registerMessage(std::string_view id, std::string_view text)
{
    const auto [entry, isNew] = registered().emplace(id, text);
    assert((isNew || entry->second == text) && "two messages have the same id");
    return isNew;
}

Message detail::makeMessage(std::string_view id, std::string_view text,
                            std::initializer_list<MessageParameter> parameters)
{
    Message made{std::string(id), parameters, {}};
    made.text = filled(text, made.parameters);
    return made;
}

} // namespace profiler
