#include "trainer/config/training_config.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace config;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class ConfigFiles : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = fs::temp_directory_path() / "stepscope-config-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        m_folder = pattern;
    }
    void TearDown() override { fs::remove_all(m_folder); }
    fs::path write(const std::string& text)
    {
        std::ofstream(m_folder / "run.json") << text;
        return m_folder / "run.json";
    }
    fs::path m_folder;
};

std::string messageOf(std::string_view json)
{
    const auto config = TrainingConfig::fromJson(json, "run.json");
    EXPECT_FALSE(config) << json;
    return config ? "" : config.error().message();
}

// A configuration in which every knob has a random allowed value.
TrainingConfig randomConfig(std::mt19937_64& random)
{
    TrainingConfig config;
    for (const Knob& knob : knobs()) {
        std::string text;
        if (knob.type == KnobType::Flag)
            text = random() % 2 == 0 ? "true" : "false";
        else if (knob.type == KnobType::Integer)
            text = toText(std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(knob.min),
                                                                      static_cast<std::int64_t>(knob.max))(random));
        else if (knob.type == KnobType::Real)
            text = toText(std::uniform_real_distribution<double>(knob.min, knob.max)(random));
        else if (knob.type == KnobType::Choice)
            text = knob.choices[random() % knob.choices.size()];
        else
            text = "/data/\"quoted\"/grün \\ " + std::to_string(random());
        EXPECT_TRUE(config.set(knob.key, text)) << knob.key << " = " << text;
    }
    return config;
}

TEST(ConfigJson, RoundTripsWhateverTheValues)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 200; ++i) {
        const TrainingConfig config = randomConfig(random);
        for (const bool all : {true, false}) {
            const auto read = TrainingConfig::fromJson(config.toJson(all));
            ASSERT_TRUE(read) << read.error().message();
            ASSERT_EQ(*read, config);
        }
    }
}

TEST(ConfigJson, TakesNestedAndFlatKeys)
{
    const auto nested = TrainingConfig::fromJson(R"({"loader": {"workers": 2}, "optimizer": {"learning_rate": 1}})");
    const auto flat = TrainingConfig::fromJson(R"({"loader.workers": 2, "optimizer.learning_rate": 1.0})");
    ASSERT_TRUE(nested);
    ASSERT_TRUE(flat);
    EXPECT_EQ(*nested, *flat);
    EXPECT_EQ((*nested)[key::workers], 2);
}

TEST(ConfigJson, ShortFormHoldsOnlyWhatDiffers)
{
    TrainingConfig config;
    EXPECT_EQ(config.toJson(false), "{}\n");
    ASSERT_TRUE(config.set("loader.workers", "2"));
    EXPECT_EQ(config.toJson(false), "{\n  \"loader\": {\n    \"workers\": 2\n  }\n}\n");
}

TEST(ConfigJson, BadJsonGivesFileAndByte)
{
    const std::string message = messageOf(R"({"loader": {"workers": 2,,}})");
    EXPECT_THAT(message, HasSubstr("run.json"));
    EXPECT_THAT(message, HasSubstr("byte 26 (line 1)"));
    EXPECT_THAT(messageOf("{\n\"batch.size\": 4,\n}"), HasSubstr("line 3"));
    EXPECT_THAT(messageOf("{\"batch.size\": 4,\n\"workload\": \"mlp\n}"), HasSubstr("line 2")) << "at the line's end";
    EXPECT_THAT(messageOf(""), HasSubstr("byte"));
    EXPECT_THAT(messageOf("[1, 2]"), HasSubstr("object"));
}

TEST(ConfigJson, WrongKeysNameTheNearestAndTheFile)
{
    const std::string message = messageOf(R"({"loader": {"wokers": 2}})");
    EXPECT_THAT(message, HasSubstr("run.json"));
    EXPECT_THAT(message, HasSubstr("loader.wokers"));
    EXPECT_THAT(message, HasSubstr("loader.workers"));
    EXPECT_THAT(messageOf(R"({"loadre": {"workers": 2}})"), HasSubstr("loadre"));
    EXPECT_THAT(messageOf(R"({"loader": 2})"), HasSubstr("loader.workers"));
}

TEST(ConfigJson, WrongTypesNameKeyValueAndWhatIsAllowed)
{
    EXPECT_THAT(messageOf(R"({"loader": {"workers": "2"}})"), HasSubstr(R"(loader.workers = "2": must be an integer)"));
    EXPECT_THAT(messageOf(R"({"loader": {"workers": 1.5}})"), HasSubstr("loader.workers = 1.5"));
    EXPECT_THAT(messageOf(R"({"loader": {"workers": null}})"), HasSubstr("loader.workers = null"));
    EXPECT_THAT(messageOf(R"({"loader": {"workers": [2]}})"), HasSubstr("loader.workers"));
    EXPECT_THAT(messageOf(R"({"loader": {"workers": {"count": 2}}})"), HasSubstr("loader.workers"));
    EXPECT_THAT(messageOf(R"({"loader": {"pin_memory": 1}})"), HasSubstr("true or false"));
    EXPECT_THAT(messageOf(R"({"workload": 3})"), HasSubstr("one of convnet, resnet18"));
    EXPECT_THAT(messageOf(R"({"loader": {"workers": 18446744073709551615}})"), HasSubstr("an integer from 0 to 256"));
}

TEST(ConfigJson, DeepNestingIsAnErrorAndNoCrash)
{
    std::string objects, arrays = "{\"workload\": ";
    for (int i = 0; i < 200000; ++i) {
        objects += "{\"loader\":";
        arrays += "[";
    }
    EXPECT_FALSE(TrainingConfig::fromJson(objects));
    EXPECT_FALSE(TrainingConfig::fromJson(arrays + std::string(200000, ']') + "}"));
    EXPECT_FALSE(TrainingConfig::fromJson(objects + "1" + std::string(200000, '}')));
}

TEST_F(ConfigFiles, SavesAndLoads)
{
    TrainingConfig config;
    ASSERT_TRUE(config.set("loader.workers", "3"));
    const fs::path path = write("{}");
    ASSERT_TRUE(config.save(path));
    const auto loaded = TrainingConfig::load(path);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(*loaded, config);
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1) << "no temporary file is left";
}

TEST_F(ConfigFiles, FailedSaveNamesThePlaceAndLeavesNothingBehind)
{
    const auto done = TrainingConfig().save(m_folder / "missing" / "run.json");
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), HasSubstr((m_folder / "missing").string()));
    fs::create_directory(m_folder / "folder.json");
    EXPECT_FALSE(TrainingConfig().save(m_folder / "folder.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1);
}

TEST_F(ConfigFiles, UnreadableFilesSayWhy)
{
    const auto missing = TrainingConfig::load(m_folder / "none.json");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("none.json"));
    EXPECT_THAT(missing.error().message(), HasSubstr("No such file"));
    const auto folder = TrainingConfig::load(m_folder);
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error().message(), HasSubstr("folder"));
    const auto bad = TrainingConfig::load(write("{\"loader\": "));
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().message(), HasSubstr("run.json, byte 12"));
}

} // namespace
