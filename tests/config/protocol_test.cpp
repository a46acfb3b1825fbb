#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace config::protocol;
using testing::HasSubstr;

namespace {

const std::vector<Progress>& everyProgress()
{
    static const std::vector<Progress> records = {
        Hello{4711, "2.11.0", "cpu", 123456, 1600, 400, 50, 100},
        Preparing{"writing images", 10, 2000},
        StepProgress{12, 1, 3, 0.0125, 2560.5, 0.75, 7},
        StepProgress{13, 1, 1, 0.5, 64, std::nullopt, 0},
        EpochProgress{2, 1.5, 1.75, 0.5, 0.25, 12.5, 1.5},
        TurnResult{"steps", {0.5, 0.25}, {2.5, 1.25}, 64, 123456789},
        TurnResult{"epoch", {1.5}, {}, 1600, 1},
        Notice{Notice::Severity::Info, "a", "b", "c", 1, "", {}},
        Notice{Notice::Severity::Warning, "no image", "/data/\"x\"\n.jpg", "remove it", 3, "image.none", {}},
        Notice{Notice::Severity::Error, "out of memory", "", "", 1, "", {}},
        Notice{Notice::Severity::Error,
               "the loss is 3",
               "",
               "",
               1,
               "training.loss",
               {{"step", std::int64_t{1} << 60, "3"}, {"loss", 3.0, "3"}, {"name", "a\nb", "a b"}}},
        Done{100, 12.5, 1280, 5000, true, 0.125, 0.875},
    };
    return records;
}

const std::vector<Command>& everyCommand()
{
    static const std::vector<Command> commands = {Pause{}, Resume{}, Stop{}, Record{7}, Turn{"epoch", 5, 2}};
    return commands;
}

TEST(Progress, EveryRecordRoundTripsAsOneLine)
{
    for (const Progress& record : everyProgress()) {
        const std::string line = toLine(record);
        EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
        EXPECT_TRUE(line.ends_with("\n"));
        const auto read = parseProgress(line);
        ASSERT_TRUE(read) << read.error();
        EXPECT_EQ(read->index(), record.index());
        EXPECT_EQ(toLine(*read), line) << "no field may be lost";
    }
}

TEST(Progress, ANoticeKeepsItsIdAndTheTypesOfItsValues)
{
    const Notice notice{Notice::Severity::Error,
                        "the loss is 3",
                        "",
                        "",
                        1,
                        "training.loss",
                        {{"step", std::int64_t{1} << 60, "many"}, {"loss", 3.0, "3"}, {"name", "2", "two"}}};
    const auto read = parseProgress(toLine(Progress(notice)));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(std::get<Notice>(*read).id, "training.loss");
    EXPECT_EQ(std::get<Notice>(*read).parameters, notice.parameters);
}

TEST(Progress, FieldsKeepTheirValues)
{
    const auto read = parseProgress(toLine(Progress(StepProgress{12, 1, 3, 0.0125, 2560.5, 0.75, 7})));
    ASSERT_TRUE(read);
    const auto& step = std::get<StepProgress>(*read);
    EXPECT_EQ(step.step, 12);
    EXPECT_EQ(step.stepSeconds, 0.0125);
    EXPECT_EQ(step.loss, 0.75);
    EXPECT_EQ(step.dropped, 7u);
}

TEST(Progress, NanLossesSurvive)
{
    for (const double loss :
         {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
        const auto read = parseProgress(toLine(Progress(StepProgress{1, 0, 1, 1, 1, loss, 0})));
        ASSERT_TRUE(read) << read.error();
        const auto got = std::get<StepProgress>(*read).loss;
        ASSERT_TRUE(got);
        EXPECT_TRUE(std::isnan(loss) ? std::isnan(*got) : *got == loss);
    }
}

TEST(Progress, FileNamesThatAreNotUtf8AreAccepted)
{
    EXPECT_TRUE(
        parseProgress(toLine(Progress(Notice{Notice::Severity::Warning, "no image", "\xff.jpg", "", 1, "", {}}))));
}

TEST(Progress, UnknownFieldsOfALaterVersionAreIgnored)
{
    EXPECT_TRUE(parseProgress(R"({"type": "preparing", "what": "x", "done": 1, "total": 2, "later": [1]})"));
}

TEST(Progress, LinesWithMissingOrWrongFieldsAreRejected)
{
    for (const Progress& record : everyProgress()) {
        const std::string line = toLine(record);
        EXPECT_FALSE(parseProgress(line.substr(0, line.size() / 2))) << line;
    }
    for (
        const char* line :
        {"", "\n", "[]", "null", "5", "{}", R"({"type": 3})", R"({"type": "later"})", R"({"type": "preparing"})",
         R"({"type": "preparing", "what": 1, "done": 1, "total": 1})",
         R"({"type": "preparing", "what": "x", "done": 1.5, "total": 1})",
         R"({"type": "notice", "severity": "fatal", "what": "", "where": "", "hint": "", "count": 1})",
         R"({"type": "turn_result", "what": "steps", "seconds": [1, "x"], "losses": [], "samples": 1, "peak_bytes": 1})",
         R"({"type": "step", "step": 1, "epoch": 0, "steps": 1, "step_seconds": 1, "samples_per_second": 1, "loss": 1, "dropped": -1})"})
        EXPECT_FALSE(parseProgress(line)) << line;
}

TEST(Progress, ErrorsShowTheBeginningOfTheLine)
{
    const auto read = parseProgress("Segmentation fault " + std::string(500, 'x'));
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error(), HasSubstr("Segmentation fault"));
    EXPECT_LT(read.error().size(), 200u);
}

TEST(Commands, RoundTrip)
{
    for (const Command& command : everyCommand()) {
        const auto read = parseCommand(toLine(command));
        ASSERT_TRUE(read) << read.error();
        EXPECT_EQ(read->index(), command.index());
        EXPECT_EQ(toLine(*read), toLine(command));
    }
}

TEST(Commands, WrittenByHandMayOmitDefaults)
{
    const auto record = parseCommand(R"({"type": "record"})");
    ASSERT_TRUE(record);
    EXPECT_EQ(std::get<Record>(*record).steps, 5);
}

TEST(Commands, InvalidOnesAreRejected)
{
    for (const char* line : {"", "stop", R"({"type": "explode"})", R"({"type": "record", "steps": 0})",
                             R"({"type": "record", "steps": "5"})", R"({"type": "turn", "what": "hours"})",
                             R"({"type": "turn", "count": 0})", R"({"type": "turn", "drop": -1})"})
        EXPECT_FALSE(parseCommand(line)) << line;
}

TEST(Description, RoundTrips)
{
    const Description description{{{"convnet", "Small convnet", "doc"}},
                                  {{"mnist", "MNIST", "d"}},
                                  {{"sgd", "SGD", "d"}},
                                  {{"cosine", "Cosine", "d"}},
                                  false,
                                  "no driver",
                                  "gpu.no_driver",
                                  "2.11.0",
                                  2};
    const auto read = parseDescription(toJson(description));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(toJson(*read), toJson(description));
    ASSERT_EQ(read->workloads.size(), 1u);
    EXPECT_EQ(read->workloads[0].title, "Small convnet");
    EXPECT_EQ(read->gpuReason, "no driver");
    EXPECT_EQ(read->gpuReasonId, "gpu.no_driver");
}

TEST(Description, HasTheTableOfKnobs)
{
    const auto json = nlohmann::json::parse(toJson(Description{}));
    ASSERT_EQ(json.at("knobs").size(), config::knobs().size());
    for (std::size_t i = 0; i < config::knobs().size(); ++i) {
        const auto& row = json["knobs"][i];
        EXPECT_EQ(row.at("key"), config::knobs()[i].key);
        EXPECT_FALSE(row.at("doc").get<std::string>().empty()) << row["key"];
        EXPECT_FALSE(row.at("where").get<std::string>().empty()) << row["key"];
        EXPECT_EQ(row.at("min").is_number(), row.at("type") == "integer" || row.at("type") == "real") << row["key"];
        EXPECT_EQ(row.at("choices").empty(), row.at("type") != "choice") << row["key"];
    }
}

TEST(Description, RejectsOtherText)
{
    EXPECT_FALSE(parseDescription("usage: stepscope-train"));
    EXPECT_FALSE(parseDescription("{}"));
}

} // namespace
