#include "tests/cli/cli_program.h"
#include "tests/experiment/script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace cli_test {
namespace {

using experiment_test::Script;
using experiment_test::scriptedTrainer;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::ordered_json;

/// Half of the step is spent waiting for data that the main thread loads.
constexpr std::string_view kWaits = R"(
    meta host.cores 2
    meta host.threads 1
    main
      repeat 40 every 1000
        step 0 0 1000
        phase "data wait" 0 500
        stage decode 0 490
        phase forward 500 500
      end
)";

Ended runScripted(const std::vector<std::string>& arguments)
{
    return run(arguments, scriptedTrainer().string());
}

Json jsonOf(const Ended& ended)
{
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
}

std::string contentsOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ExperimentCommand, MeasuresWhatTheTracePredicts)
{
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}};
    const Folder folder;
    const std::string config = folder.write("c.json", "{}"), trace = folder.trace("t.sstrace", kWaits);
    const std::vector<std::string> arguments = {"experiment", "--config", config,     "--set", "loader.workers=1",
                                                "--trace",    trace,      "--budget", "300"};
    auto withJson = arguments;
    withJson.emplace_back("--json");
    const Ended ended = runScripted(withJson);
    const Json json = jsonOf(ended);
    EXPECT_EQ(json["verdict"], "pays");
    EXPECT_EQ(json["pairs"], 6);
    ASSERT_FALSE(json["predicted"].is_null()) << ended.err;
    EXPECT_NEAR(json["predicted"]["of_us"], 1000, 1);
    // Steps take ten times as long here as in the trace: shares are compared.
    EXPECT_NEAR(json["predicted_here"]["high"], 10 * json["predicted"]["high"].get<double>(),
                json["predicted"]["high"].get<double>());
    EXPECT_TRUE(json["prediction_held"].is_boolean());
    EXPECT_THAT(ended.err, HasSubstr("pair 6 of at most 20"));
    const Ended text = runScripted(arguments);
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("predicted: "));
}

TEST(ExperimentCommand, ATraceWithoutAPredictionIsReported)
{
    const Script script;
    const Folder folder;
    const Ended ended =
        runScripted({"experiment", "--config", folder.write("c.json", "{}"), "--set", "data.normalize=false",
                     "--measure", "steps", "--trace", folder.trace("t.sstrace", kWaits), "--json"});
    EXPECT_TRUE(jsonOf(ended)["predicted"].is_null());
    EXPECT_THAT(ended.err, HasSubstr("No prediction from the trace"));
}

TEST(ExperimentCommand, TheHorizonIsTheTrainingTimeOfBothArms)
{
    const Script script{{"SCRIPT_STEP_US", "20000"}};
    const Folder folder;
    const std::string config = folder.write("c.json", "{}");
    const Json json = jsonOf(runScripted(
        {"experiment", "--config", config, "--set", "optimizer.learning_rate=0.01", "--horizon", "3", "--json"}));
    EXPECT_EQ(json["judged_by"], "convergence");
    ASSERT_FALSE(json["loss_at_equal_time"].is_null());
    const Ended timed =
        runScripted({"experiment", "--config", config, "--set", "loader.workers=1", "--horizon", "3", "--json"});
    EXPECT_EQ(timed.status, 0);
    EXPECT_THAT(timed.err, HasSubstr("--horizon has no effect"));
}

TEST(TuneCommand, WritesAConfigurationItsCodeAndAReport)
{
    const Folder folder;
    const std::string trace = folder.trace("t.sstrace", kWaits);
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}, {"SCRIPT_TRACE", trace}};
    const Ended ended = runScripted(
        {"tune", "--config", folder.write("c.json", "{}"), "--budget", "300", "-o", folder / "tuned", "--json"});
    const Json json = jsonOf(ended);
    ASSERT_FALSE(json["trials"].empty()) << ended.err;
    EXPECT_EQ(json["trials"][0]["change"]["key"], "loader.workers");
    EXPECT_EQ(json["trials"][0]["outcome"], "kept");
    EXPECT_NEAR(json["samples_per_s_ratio"]["value"], 1.5, 0.1);
    ASSERT_FALSE(json["whole"].is_null()) << "start against all kept changes";
    EXPECT_EQ(json["whole"]["samples_per_s"]["ratio"], json["samples_per_s_ratio"]["value"]);
    EXPECT_THAT(ended.err, HasSubstr("start against all kept changes"));
    const Json best = Json::parse(contentsOf(folder / "tuned/config.json"), nullptr, false);
    EXPECT_GE(best["loader"]["workers"], 1);
    EXPECT_THAT(contentsOf(folder / "tuned/code.md"), HasSubstr("num_workers"));
    EXPECT_THAT(contentsOf(folder / "tuned/report.html"), HasSubstr("Result of tuning"));
}

TEST(TuneCommand, PrintsText)
{
    const Folder folder;
    const std::string trace = folder.trace("t.sstrace", kWaits);
    const Script script{{"SCRIPT_SPEEDUP", "1.5"}, {"SCRIPT_NOISE", "0.005"}, {"SCRIPT_TRACE", trace}};
    const Ended ended = runScripted({"tune", "--config", folder.write("c.json", "{}")});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("loader.workers = 1"));
    EXPECT_THAT(ended.out, HasSubstr("× the samples per second (at least"));
    EXPECT_THAT(ended.out, HasSubstr(" kept. "));
    EXPECT_THAT(ended.out, HasSubstr("Code to copy (PyTorch)"));
}

TEST(TuneCommand, UnmeasuredTrialsHaveNoNumberAndRejectedOnesAReason)
{
    const Folder folder;
    const std::string trace = folder.trace("t.sstrace", kWaits), config = folder.write("c.json", "{}");
    const Script script{{"SCRIPT_SPEEDUP", "0.8"}, {"SCRIPT_NOISE", "0.005"}, {"SCRIPT_TRACE", trace}};
    const Ended ended = runScripted({"tune", "--config", config, "-o", folder / "tuned"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("at least 1.00")));
    EXPECT_THAT(ended.out, HasSubstr("Measured 1 change; none was shown to pay"));
    EXPECT_THAT(ended.out, ContainsRegex("loader.workers = 1 +costs "));
    EXPECT_THAT(ended.out, Not(HasSubstr("dropped")));
    EXPECT_THAT(contentsOf(folder / "tuned/report.html"), Not(HasSubstr("at least 1.00")));
    const Json json = jsonOf(runScripted({"tune", "--config", config, "--json"}));
    EXPECT_EQ(json["samples_per_s_ratio"]["measured"], false);
    // Its complete reason is shown below the row.
    const std::string why = json["trials"][0]["why"].get<std::string>();
    EXPECT_THAT(ended.out, HasSubstr("\n      " + why.substr(0, why.find(' '))));
}

TEST(TuneCommand, NeverReplacesTheConfigurationThatItTunes)
{
    const Folder folder;
    const Script script;
    const std::string config = folder.write("config.json", "{}");
    const Ended ended = runScripted({"tune", "--config", config, "-o", (folder / "config.json").parent_path()});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("would overwrite the configuration"));
    EXPECT_EQ(contentsOf(config), "{}");
    EXPECT_THAT(script.log("start"), IsEmpty());
}

TEST(TuneCommand, AFolderThatCannotBeCreatedIsReportedBeforeAnyTrial)
{
    const Folder folder;
    const Script script;
    const std::string file = folder.write("file", "no folder");
    const Ended ended = runScripted({"tune", "--config", folder.write("c.json", "{}"), "-o", file + "/tuned"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("choose another folder with -o"));
    EXPECT_THAT(script.log("start"), IsEmpty());
}

TEST(ReportCommand, NeedsNothingButATrace)
{
    const Folder folder;
    const std::string trace = folder.trace("t.sstrace", kWaits);
    EXPECT_EQ(run({"report", trace, "-o", folder / "r.html"}).status, 0);
    const std::string alone = contentsOf(folder / "r.html");
    EXPECT_THAT(alone, HasSubstr("40 steps"));
    EXPECT_THAT(alone, HasSubstr("The trace contains no configuration"))
        << "changes that cannot be tried have a reason";
    const Ended compared = run({"report", trace, "-o", folder / "c.html", "--config", folder.write("c.json", "{}"),
                                "--against", folder.trace("before.sstrace", kWaits)});
    EXPECT_EQ(compared.status, 0) << compared.err;
    EXPECT_THAT(contentsOf(folder / "c.html"), Not(HasSubstr("Cannot be re-run from here")));
}

} // namespace
} // namespace cli_test
