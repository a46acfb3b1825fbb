#pragma once

#include "profiler/model/message.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <string>
#include <vector>

/// Matchers of messages by id and parameters. The wording is the golden test's alone.
namespace profiler::test {

/// A message with that id and, among others, these values.
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

/// A message with a parameter of that name, whose text has `part` in it.
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
