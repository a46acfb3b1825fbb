#include "trainer/config/training_config.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace config;
using testing::AllOf;
using testing::Field;
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

ConfigError errorOf(std::string_view json)
{
    const auto config = TrainingConfig::fromJson(json, "run.json");
    EXPECT_FALSE(config) << json;
    return config ? ConfigError() : config.error();
}

auto isError(const std::string& id, const std::string& key = {})
{
    return AllOf(Field("id", &ConfigError::id, id), Field("key", &ConfigError::key, key));
}

auto refusesValue(const std::string& value)
{
    return AllOf(isError("config.not_allowed", "loader.workers"), Field("value", &ConfigError::value, value));
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

TEST(ConfigJson, AcceptsNestedAndFlatKeys)
{
    const auto nested = TrainingConfig::fromJson(R"({"loader": {"workers": 2}, "optimizer": {"learning_rate": 1}})");
    const auto flat = TrainingConfig::fromJson(R"({"loader.workers": 2, "optimizer.learning_rate": 1.0})");
    ASSERT_TRUE(nested);
    ASSERT_TRUE(flat);
    EXPECT_EQ(*nested, *flat);
    EXPECT_EQ((*nested)[key::workers], 2);
}

TEST(ConfigJson, ShortFormContainsOnlyDifferences)
{
    TrainingConfig config;
    EXPECT_EQ(config.toJson(false), "{}\n");
    ASSERT_TRUE(config.set("loader.workers", "2"));
    EXPECT_EQ(config.toJson(false), "{\n  \"loader\": {\n    \"workers\": 2\n  }\n}\n");
}

TEST(ConfigJson, BadJsonGivesFileAndByte)
{
    const ConfigError error = errorOf(R"({"loader": {"workers": 2,,}})");
    EXPECT_THAT(error, isError("config.bad_json"));
    EXPECT_THAT(error.where, HasSubstr("run.json"));
    EXPECT_THAT(error.where, HasSubstr("byte 26 (line 1)"));
    EXPECT_THAT(errorOf("{\n\"batch.size\": 4,\n}").where, HasSubstr("line 3"));
    EXPECT_THAT(errorOf("{\"batch.size\": 4,\n\"workload\": \"mlp\n}").where, HasSubstr("line 2"))
        << "at the line's end";
    EXPECT_THAT(errorOf(""), isError("config.bad_json"));
    EXPECT_THAT(errorOf("[1, 2]"), isError("config.no_json_object"));
}

TEST(ConfigJson, ANumberOutsideTheRangeOfDoubleIsAnError)
{
    for (const char* number : {"71e308", "-1e999"}) {
        const ConfigError error = errorOf("{\"optimizer.momentum\": " + std::string(number) + "}");
        EXPECT_THAT(error, isError("config.number_too_large")) << number;
        EXPECT_THAT(error.where, HasSubstr("run.json"));
    }
}

TEST(ConfigJson, WrongKeysNameTheNearestAndTheFile)
{
    const ConfigError error = errorOf(R"({"loader": {"wokers": 2}})");
    EXPECT_THAT(error, isError("config.unknown_key", "loader.wokers"));
    EXPECT_THAT(error.where, HasSubstr("run.json"));
    EXPECT_THAT(error.allowed, HasSubstr("loader.workers"));
    EXPECT_THAT(errorOf(R"({"loadre": {"workers": 2}})"), isError("config.unknown_key", "loadre"));
    EXPECT_THAT(errorOf(R"({"loader": 2})").allowed, HasSubstr("loader.workers"));
}

TEST(ConfigJson, WrongTypesNameKeyValueAndWhatIsAllowed)
{
    EXPECT_THAT(errorOf(R"({"loader": {"workers": "2"}})"), refusesValue(R"("2")"));
    EXPECT_EQ(errorOf(R"({"loader": {"workers": "2"}})").allowed, allowedText(*findKnob("loader.workers")));
    EXPECT_THAT(errorOf(R"({"loader": {"workers": 1.5}})"), refusesValue("1.5"));
    EXPECT_THAT(errorOf(R"({"loader": {"workers": null}})"), refusesValue("null"));
    EXPECT_THAT(errorOf(R"({"loader": {"workers": [2]}})"), refusesValue("[…]"));
    EXPECT_THAT(errorOf(R"({"loader": {"workers": {"count": 2}}})").key, HasSubstr("loader.workers"));
    EXPECT_THAT(errorOf(R"({"loader": {"pin_memory": 1}})"), isError("config.not_allowed", "loader.pin_memory"));
    EXPECT_THAT(errorOf(R"({"workload": 3})"), isError("config.not_allowed", "workload"));
    EXPECT_THAT(errorOf(R"({"loader": {"workers": 18446744073709551615}})"), refusesValue("18446744073709551615"));
}

TEST(ConfigJson, DeepNestingIsAnErrorNotACrash)
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
    EXPECT_THAT(done.error(), isError("config.unwritable"));
    EXPECT_THAT(done.error().where, HasSubstr((m_folder / "missing").string()));
    fs::create_directory(m_folder / "folder.json");
    EXPECT_FALSE(TrainingConfig().save(m_folder / "folder.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1);
}

TEST_F(ConfigFiles, UnreadableFilesAreReportedWithAReason)
{
    const auto missing = TrainingConfig::load(m_folder / "none.json");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error(), isError("config.unreadable"));
    EXPECT_THAT(missing.error().where, HasSubstr("none.json"));
    const auto folder = TrainingConfig::load(m_folder);
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error(), isError("config.is_folder"));
    const auto bad = TrainingConfig::load(write("{\"loader\": "));
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error(), isError("config.bad_json"));
    EXPECT_THAT(bad.error().where, HasSubstr("run.json, byte 12"));
}

} // namespace
