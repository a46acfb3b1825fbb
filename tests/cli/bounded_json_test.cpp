#include "app/terminal/output.h"

#include <gtest/gtest.h>

namespace {

using app::terminal::jsonText;
using app::terminal::shorten;
using Json = nlohmann::ordered_json;

Json rows(int count)
{
    Json list = Json::array();
    for (int i = 0; i < count; ++i)
        list.push_back({{"index", i}});
    return list;
}

TEST(BoundedJson, IsUnchangedIfItFits)
{
    Json json{{"a", 1}, {"rows", rows(3)}};
    const Json before = json;
    EXPECT_TRUE(shorten(json, 1000));
    EXPECT_EQ(json, before);
}

TEST(BoundedJson, LosesTheEndsOfItsLongestArrays)
{
    Json json{{"few", rows(4)}, {"a/b", rows(5000)}};
    EXPECT_TRUE(shorten(json, 2000));
    EXPECT_LE(jsonText(json, true).size(), 2000U);
    EXPECT_EQ(json["few"].size(), 4U);
    EXPECT_FALSE(json["omitted"].contains("/few"));
    EXPECT_EQ(json["a/b"].size() + json["omitted"]["/a~1b"].get<std::size_t>(), 5000U);
    EXPECT_EQ(json["a/b"][0]["index"], 0);
}

TEST(BoundedJson, CountsOnlyArraysThatAreStillThere)
{
    Json inner = Json::array();
    for (int i = 0; i < 100; ++i)
        inner.push_back({{"values", rows(100)}});
    Json json{{"rows", std::move(inner)}};
    EXPECT_TRUE(shorten(json, 1500));
    for (const auto& [path, count] : json["omitted"].items())
        EXPECT_TRUE(json.contains(Json::json_pointer(path))) << path << count;
    EXPECT_EQ(json["rows"].size() + json["omitted"]["/rows"].get<std::size_t>(), 100U);
}

TEST(BoundedJson, CutsStringsBetweenCharacters)
{
    std::string text;
    for (int i = 0; i < 5000; ++i)
        text += "µ";
    Json json{{"text", text}};
    EXPECT_TRUE(shorten(json, 1000));
    EXPECT_TRUE(json["shortened"]);
    EXPECT_EQ(jsonText(json, true).find("\uFFFD"), std::string::npos);
}

TEST(BoundedJson, GivesUpIfTheKeysAreTooLong)
{
    Json json = Json::object();
    for (int i = 0; i < 1000; ++i)
        json[std::to_string(i)] = i;
    EXPECT_FALSE(shorten(json, 1000));
}

} // namespace
