#pragma once

#include "profiler/model/message.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <string>
#include <variant>
#include <vector>

/// Matchers of messages by id and parameters. Only the golden test of messages checks the wording.
namespace profiler::test {

/// A message with that id which has at least these values.
inline testing::Matcher<const Message&> hasId(const std::string& id,
                                              const std::vector<MessageParameter>& parameters = {})
{
    std::vector<testing::Matcher<const Message&>> all{testing::Field("id", &Message::id, id)};
    for (const MessageParameter& wanted : parameters)
        all.push_back(testing::Field(
            "parameters", &Message::parameters,
            testing::Contains(testing::AllOf(testing::Field("name", &MessageParameter::name, wanted.name),
                                             testing::Field("value", &MessageParameter::value, wanted.value)))));
    return testing::AllOfArray(all);
}

/// A message with a parameter of that name whose text contains `part`.
inline testing::Matcher<const Message&> hasPart(const std::string& name, const std::string& part)
{
    return testing::Field(
        "parameters", &Message::parameters,
        testing::Contains(testing::AllOf(testing::Field("name", &MessageParameter::name, name),
                                         testing::Field("text", &MessageParameter::text, testing::HasSubstr(part)))));
}

inline testing::Matcher<const Message&> hasIdAndPart(const std::string& id, const std::string& name,
                                                     const std::string& part)
{
    return testing::AllOf(hasId(id), hasPart(name, part));
}

/// The ids, in order.
inline std::vector<std::string> idsOf(const std::vector<Message>& messages)
{
    std::vector<std::string> ids;
    for (const Message& message : messages)
        ids.push_back(message.id);
    return ids;
}

} // namespace profiler::test

/// Matchers for messages. Tests check ids and values; only the golden test of messages checks texts.
namespace test_support {

/// Has that id.
inline auto HasId(const std::string& id)
{
    return testing::Field("id", &profiler::Message::id, testing::StrEq(id));
}

/// Has a parameter `name` with a number that matches: µs, bytes, fractions in 0…1, counts.
MATCHER_P2(HasNumber, name, matcher, "has a parameter " + std::string(name) + " that matches")
{
    const profiler::MessageParameter* parameter = arg.find(name);
    if (!parameter) {
        *result_listener << "which has no such parameter";
        return false;
    }
    double number = 0;
    if (const auto* real = std::get_if<double>(&parameter->value))
        number = *real;
    else if (const auto* whole = std::get_if<std::int64_t>(&parameter->value))
        number = static_cast<double>(*whole);
    else {
        *result_listener << "whose parameter is the text " << parameter->text;
        return false;
    }
    *result_listener << "whose parameter is " << number << ", ";
    return testing::ExplainMatchResult(testing::Matcher<double>(matcher), number, result_listener);
}

/// Has a parameter `name` with a text that matches.
MATCHER_P2(HasText, name, matcher, "has a parameter " + std::string(name) + " whose text matches")
{
    const profiler::MessageParameter* parameter = arg.find(name);
    if (!parameter) {
        *result_listener << "which has no such parameter";
        return false;
    }
    return testing::ExplainMatchResult(testing::Matcher<std::string>(matcher), parameter->text, result_listener);
}

/// Has a text that matches: for messages without ids.
template <typename Matcher>
auto TextIs(Matcher matcher)
{
    return testing::Field("text", &profiler::Message::text, matcher);
}

} // namespace test_support
