#include "profiler/model/message.h"

#include <cassert>
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

std::string shownOr(std::string_view shown, std::string number)
{
    return shown.empty() ? std::move(number) : std::string(shown);
}

/// The text with each "{name}" replaced by that parameter. What is in no parameter stays as it is.
std::string filled(std::string_view text, const std::vector<MessageParameter>& parameters)
{
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find('{', at);
        const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
        if (close == text.npos)
            return result += text.substr(at);
        result += text.substr(at, open - at);
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                            [&](const MessageParameter& candidate) { return candidate.name == name; });
        assert(parameter != parameters.end() && "a message names a parameter that it was not given");
        result +=
            parameter != parameters.end() ? std::string_view(parameter->text) : text.substr(open, close + 1 - open);
        at = close + 1;
    }
    return result;
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
MessageParameter::MessageParameter(std::string_view parameter, std::int64_t number, std::string_view shown)
    : name(parameter), value(number), text(shownOr(shown, std::to_string(number)))
{
}
MessageParameter::MessageParameter(std::string_view parameter, int number, std::string_view shown)
    : MessageParameter(parameter, static_cast<std::int64_t>(number), shown)
{
}
MessageParameter::MessageParameter(std::string_view parameter, std::size_t number, std::string_view shown)
    : MessageParameter(parameter, static_cast<std::int64_t>(number), shown)
{
}

Message::Message(std::string messageId, std::vector<MessageParameter> values, std::string sentence)
    : id(std::move(messageId)), parameters(std::move(values)), text(std::move(sentence))
{
}
Message::Message(std::string sentence) : text(std::move(sentence)) {}
Message::Message(const char* sentence) : text(sentence) {}

const MessageParameter* Message::find(std::string_view name) const
{
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const MessageParameter& parameter) { return parameter.name == name; });
    return found != parameters.end() ? &*found : nullptr;
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
