#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

// The golden test of every message's wording: messages.txt lists the ids of the libraries that the terminal's programs
// consist of with their texts, app_messages.txt and trainer_messages.txt those that only the app or the trainer has.
// After a change of a text, run STEPSCOPE_UPDATE_GOLDEN=1 messages_test (or app_messages_test, trainer_messages_test;
// messages_test first), read the diff, and commit the file. Other tests check ids and parameters.

namespace {

using profiler::MessageText;

std::string listed(const std::vector<MessageText>& messages)
{
    std::string lines;
    for (const MessageText& message : messages)
        lines.append(message.id).append("\n    ").append(message.text).append("\n");
    return lines;
}

std::vector<std::string> parameterNames(std::string_view text)
{
    static const std::regex braces("\\{([^}|]*)[^}]*\\}"); // of "{count|is|are}" the name
    const std::string copy(text);
    std::vector<std::string> names;
    for (auto at = std::sregex_iterator(copy.begin(), copy.end(), braces); at != std::sregex_iterator(); ++at)
        names.push_back((*at)[1]);
    return names;
}

std::string contentOf(const char* path)
{
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

/// The messages that belong into this program's file: not those of messages.txt, unless that is the file.
std::vector<MessageText> ownMessages()
{
    std::vector<MessageText> messages = profiler::messageTexts();
    if (std::string_view(STEPSCOPE_MESSAGES) != STEPSCOPE_COMMON_MESSAGES)
        std::erase_if(messages, [common = '\n' + contentOf(STEPSCOPE_COMMON_MESSAGES)](const MessageText& message) {
            return common.find('\n' + listed({message})) != std::string::npos;
        });
    return messages;
}

TEST(Messages, ReadAsInTheGoldenFile)
{
    const std::string now = listed(ownMessages());
    if (std::getenv("STEPSCOPE_UPDATE_GOLDEN")) {
        std::ofstream(STEPSCOPE_MESSAGES) << now;
        GTEST_SKIP() << "wrote " << STEPSCOPE_MESSAGES;
    }
    EXPECT_EQ(contentOf(STEPSCOPE_MESSAGES), now)
        << "if the new texts are right, run this program with STEPSCOPE_UPDATE_GOLDEN=1";
}

TEST(Messages, OfAnErrorAreOneSentence)
{
    const profiler::Message what("test.sentence", {}, "PyTorch has no such optimizer.");
    EXPECT_EQ((profiler::Error{profiler::Error::Code::Invalid, what, "a.py", "choose another"}).message(),
              "PyTorch has no such optimizer (a.py): choose another");
    EXPECT_EQ((profiler::Error{profiler::Error::Code::Invalid, what, {}, {}}).message(), what.text);
}

TEST(Messages, HaveIdsOfLowerCaseWordsThatOccurOnce)
{
    static const std::regex id("[a-z][a-z0-9_]*([.][a-z0-9_]+)+");
    std::set<std::string_view> seen;
    EXPECT_GT(profiler::messageTexts().size(), 100U);
    for (const MessageText& message : profiler::messageTexts()) {
        EXPECT_TRUE(std::regex_match(std::string(message.id), id)) << message.id;
        EXPECT_TRUE(seen.insert(message.id).second) << message.id;
    }
}

TEST(Messages, NameParametersInLowerCase)
{
    static const std::regex name("[a-z][a-z0-9_]*");
    for (const MessageText& message : profiler::messageTexts()) {
        for (const std::string& parameter : parameterNames(message.text))
            EXPECT_TRUE(std::regex_match(parameter, name)) << message.id << ": {" << parameter << '}';
        EXPECT_EQ(std::count(message.text.begin(), message.text.end(), '{'),
                  std::count(message.text.begin(), message.text.end(), '}'))
            << message.id;
    }
}

TEST(Messages, AreSentencesWithoutSlips)
{
    for (const MessageText& message : profiler::messageTexts()) {
        EXPECT_FALSE(message.text.empty()) << message.id;
        EXPECT_EQ(message.text.find("  "), std::string_view::npos) << message.id << ": two spaces";
        EXPECT_NE(message.text.back(), ' ') << message.id;
    }
}

TEST(Messages, AgreeWithTheirNumbers)
{
    const auto of = [](int count) {
        return profiler::detail::makeMessage("test.chosen", "{count} {count|event is|events are} lost{count||, all}.",
                                             {{"count", count}})
            .text;
    };
    EXPECT_EQ(of(1), "1 event is lost.");
    EXPECT_EQ(of(0), "0 events are lost, all.");
    EXPECT_EQ(of(12), "12 events are lost, all.");
}

TEST(Messages, AreTheSameAfterTheWayThroughALineOfAFile)
{
    const profiler::Message message = profiler::detail::makeMessage(
        "test.line", "{share} of {file} at {byte}.",
        {{"share", 0.1, "10 %"}, {"file", "a b.json"}, {"byte", std::int64_t{1} << 60, "far"}, {"none", ""}});
    const std::string line = profiler::messageLine(message);
    EXPECT_EQ(profiler::messageOfLine(line), message);
    EXPECT_TRUE(line.starts_with(message.text)) << "a reader of the raw file sees the sentence first";
    EXPECT_EQ(line.find('\n'), std::string::npos);

    const profiler::Message plain = profiler::messageOfLine("of a script");
    EXPECT_TRUE(plain.id.empty());
    EXPECT_EQ(plain.text, "of a script");
    EXPECT_EQ(profiler::messageOfLine("cut\x1ftest.line\x1fshare\x1f").text, "cut") << "half a line is a text";
    EXPECT_TRUE(profiler::messageOfLine("cut\x1ftest.line\x1fshare\x1f").id.empty());
    EXPECT_TRUE(profiler::messageOfLine("").empty());
}

TEST(Messages, LinesHoldNoBreaks)
{
    const auto broken = profiler::detail::makeMessage("test.break", "{said}", {{"said", "two\nlines\x1f"}});
    EXPECT_EQ(profiler::messageLine(broken).find('\n'), std::string::npos);
    EXPECT_EQ(profiler::messageOfLine(profiler::messageLine(broken)).id, "test.break");
}

TEST(Messages, FillInTheirParameters)
{
    const auto made = profiler::detail::makeMessage("test.filled", "The device idles {share} of {time}.",
                                                    {{"share", 0.4, "40 %"}, {"time", 12.5, "12.5 µs"}, {"unused", 3}});
    EXPECT_EQ(made.text, "The device idles 40 % of 12.5 µs.");
    EXPECT_EQ(made.id, "test.filled");
    ASSERT_TRUE(made.find("share"));
    EXPECT_DOUBLE_EQ(std::get<double>(made.find("share")->value), 0.4);
    EXPECT_EQ(std::get<std::int64_t>(made.find("unused")->value), 3);
    EXPECT_FALSE(made.find("missing"));
}

} // namespace
