#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <string>

// What a recording shows about a program that is unaware of Stepscope: its parts, where each of them is written, which
// lines take its time, and what the rules conclude.
namespace record_test {
namespace {

using Json = nlohmann::json;

/// Line of the script that contains the text; 0: none.
int lineOf(std::string_view text)
{
    std::ifstream script(std::string(SCRIPTS) + "/vision.py");
    std::string line;
    for (int number = 1; std::getline(script, line); ++number)
        if (line.find(text) != std::string::npos)
            return number;
    return 0;
}

/// The recording, made once for all tests of this file, because importing torch takes seconds.
struct Recorded {
    Folder folder;
    Json summary, advice, lines;

    Recorded()
    {
        const Ended ended = record(folder, python("vision.py", "--epochs 3 -j 0"), "--ops");
        EXPECT_EQ(ended.status, 0) << ended.err;
        EXPECT_EQ(ended.out, "");
        summary = record_test::summary(folder);
        advice = json("advise");
        lines = json("lines");
    }

    Json json(const std::string& command) const
    {
        const Ended ended = shell(folder, std::string(STEPSCOPE_CLI) + " " + command + " --json '" +
                                              (folder / "t.sstrace").string() + "'");
        EXPECT_EQ(ended.status, 0) << command << ": " << ended.err;
        return Json::parse(ended.out, nullptr, false);
    }

    /// The object with this id in the program's facts; null if there is none.
    [[nodiscard]] Json object(std::string_view id) const
    {
        for (const Json& entry : summary["program"]["objects"])
            if (entry["id"] == id)
                return entry;
        return nullptr;
    }

    [[nodiscard]] Json finding(std::string_view id) const
    {
        for (const Json& entry : advice["advice"])
            if (entry["id"] == id)
                return entry;
        return nullptr;
    }
};

const Recorded& recorded()
{
    static const Recorded s_recorded;
    return s_recorded;
}

} // namespace

TEST(RecordFacts, LoadersHaveTheirArgumentsTheirRoleAndTheirPlace)
{
    const Json training = recorded().object("loader:0"), validation = recorded().object("loader:1");
    EXPECT_EQ(training["role"], "training");
    EXPECT_EQ(validation["role"], "validation");
    EXPECT_EQ(training["site"]["line"], lineOf("training = DataLoader("));
    EXPECT_EQ(training["site"]["end_line"], lineOf("**options,") + 1);
    EXPECT_EQ(training["site"]["function"], "main");
    EXPECT_EQ(training["settings"]["batch_size"], Json({{"value", 8}, {"given", true}, {"argument", "batch_size"}}));
    EXPECT_EQ(training["settings"]["num_workers"], Json({{"value", 0}, {"given", true}, {"argument", "workers"}}))
        << "through the dictionary";
    EXPECT_EQ(training["settings"]["pin_memory"]["given"], false);
    EXPECT_EQ(training["dataset"]["length"], 96);
}

TEST(RecordFacts, TheModelAndItsTrainingHaveTheirPlaces)
{
    EXPECT_EQ(recorded().object("model:0")["site"]["line"], lineOf("model = Net()"));
    EXPECT_EQ(recorded().object("optimizer:0")["site"]["line"], lineOf("optimizer = "));
    EXPECT_EQ(recorded().object("optimizer:0")["settings"]["lr"]["argument"], "lr");
    EXPECT_EQ(recorded().object("scheduler:0")["class"], "torch.optim.lr_scheduler.CosineAnnealingLR");
    EXPECT_EQ(recorded().object("zero_grad:0")["settings"]["set_to_none"]["value"], false);
    EXPECT_EQ(recorded().object("backward:0")["site"]["line"], lineOf("loss.backward()"));
    EXPECT_EQ(recorded().object("clip:0")["count"], 36);
    const Json validation = recorded().object("validation:0");
    EXPECT_EQ(validation["count"], 3);
    EXPECT_EQ(validation["grad"], true);
    EXPECT_EQ(validation["site"]["function"], "validate");
    const Json& program = recorded().summary["program"];
    ASSERT_EQ(program["conv_bn"].size(), 2U);
    EXPECT_EQ(program["conv_bn"][0]["bias"], true);
    EXPECT_EQ(program["conv_bn"][0]["bn"], "features.1");
    EXPECT_EQ(program["conv_bn"][1]["bias"], false);
    EXPECT_EQ(program["conv_bn"][0]["site"]["line"], lineOf("nn.Conv2d(3, 8, 3),"));
    EXPECT_EQ(program["loss"]["count"], 36);
    EXPECT_EQ(program["seeds"][0]["seed"], 7);
    ASSERT_EQ(program["files"].size(), 1U);
    EXPECT_THAT(program["script"].get<std::string>(), testing::EndsWith("vision.py"));
}

TEST(RecordFacts, ValidationIsInNoStep)
{
    EXPECT_EQ(recorded().summary["steps"]["count"], 36);
}

TEST(RecordFacts, FindingsNameLinesAndAtMostEightRulesCannotTell)
{
    const auto line = [](std::string_view id) {
        const Json source = recorded().finding(id)["source"];
        return source.empty() ? 0 : source[0]["line"].get<int>();
    };
    EXPECT_EQ(recorded().finding("eval.no_grad")["state"], "fires");
    EXPECT_EQ(line("eval.no_grad"), lineOf("model(images).argmax"));
    EXPECT_EQ(recorded().finding("model.conv_bias")["state"], "fires");
    EXPECT_EQ(line("model.conv_bias"), lineOf("nn.Conv2d(3, 8, 3),"));
    EXPECT_EQ(line("zero_grad.set_to_none"), lineOf("zero_grad(set_to_none=False)"));
    EXPECT_EQ(line("optimizer.fused"), lineOf("optimizer = "));
    std::vector<std::string> open;
    for (const Json& entry : recorded().advice["advice"])
        if (entry["state"] == "cannot tell")
            open.push_back(entry["id"].get<std::string>() + ": " + entry["reason"].get<std::string>());
    EXPECT_LE(open.size(), 8U) << testing::PrintToString(open);
}

TEST(RecordFacts, LinesHaveTheTrainingsTime)
{
    const Json& lines = recorded().lines;
    ASSERT_FALSE(lines["lines"].empty());
    EXPECT_GT(lines["samples"], 10);
    EXPECT_LT(lines["cost_us"].get<double>(), 0.05 * lines["sampled_us"].get<double>());
    double ofMain = 0;
    for (const Json& line : lines["lines"]) {
        EXPECT_THAT(line["file"].get<std::string>(), testing::EndsWith("vision.py"));
        EXPECT_LE(line["host_self_us"], line["host_us"]);
        if (line["function"] == "main")
            ofMain += line["host_us"].get<double>();
    }
    EXPECT_GT(ofMain, 0.8 * (lines["sampled_us"].get<double>() - lines["outside_us"].get<double>()));
}

} // namespace record_test
