#pragma once

#include "profiler/model/message.h"

#include <gmock/gmock.h>

/// Matchers for messages. Tests check ids and values; only the golden test of messages checks texts.
namespace test_support {

/// Of that id.
inline auto HasId(const std::string& id)
{
    return testing::Field("id", &profiler::Message::id, testing::StrEq(id));
}

/// Whose parameter `name` holds a number that matches. µs, bytes, shares in 0…1, counts.
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

/// Whose parameter `name` reads so.
MATCHER_P2(HasText, name, matcher, "has a parameter " + std::string(name) + " whose text matches")
{
    const profiler::MessageParameter* parameter = arg.find(name);
    if (!parameter) {
        *result_listener << "which has no such parameter";
        return false;
    }
    return testing::ExplainMatchResult(testing::Matcher<std::string>(matcher), parameter->text, result_listener);
}

/// Whose sentence matches: for messages without ids.
template <typename Matcher>
auto TextIs(Matcher matcher)
{
    return testing::Field("text", &profiler::Message::text, matcher);
}

} // namespace test_support
