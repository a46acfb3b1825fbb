#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_file.h"
#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

/// A training run of one or two seconds: small images, a narrow model, one thread.
std::filesystem::path smallTraining(const Folder& folder, int steps)
{
    const Json config = {
        {"device", "cpu"},
        {"run", {{"steps", steps}, {"threads", 1}}},
        {"model", {{"width", 4}}},
        {"batch", {{"size", 8}}},
        {"dataset",
         {{"path", (folder / "images").string()},
          {"samples", 80},
          {"classes", 2},
          {"source_size", 32},
          {"image_size", 16}}},
        {"capture", {{"ops_every", 10}, {"ops_window", 4}}},
    };
    return folder.write("small.json", config.dump());
}

bool isSealed(const std::filesystem::path& trace)
{
    return profiler::container::InputFile::open(trace).and_then(profiler::container::readHeader).value().isSealed;
}

Ended runTrainer(const std::vector<std::string>& arguments, std::string_view interruptAfter = {})
{
    return run(arguments, STEPSCOPE_TRAIN, interruptAfter);
}

TEST(Train, WritesATraceThatCanBeReadAndAdvisedOn)
{
    const Folder folder;
    const std::string trace = folder / "t.sstrace";
    const Ended trained = runTrainer(
        {"train", "--config", smallTraining(folder, 24), "--set", "loader.workers=1", "-o", trace, "--json"});
    ASSERT_EQ(trained.status, 0) << trained.err;
    const Json done = Json::parse(trained.out);
    EXPECT_EQ(done["steps"], 24);
    EXPECT_EQ(done["stopped"], false);
    EXPECT_EQ(done["trace"], trace);
    EXPECT_THAT(done["notices"], IsEmpty());
    EXPECT_TRUE(isSealed(trace));
    EXPECT_FALSE(std::filesystem::exists(profiler::container::ringPath(trace)));

    const Json summary = Json::parse(run({"summarize", trace, "--json"}).out);
    EXPECT_EQ(summary["steps"]["count"], 24);
    EXPECT_EQ(summary["loader"]["workers"], 1);
    EXPECT_GT(summary["counts"]["cpu_op"], 0);
    EXPECT_FALSE(summary["versions"]["torch"].is_null());
    EXPECT_THAT(summary["data_loss"]["notes"], IsEmpty());
    double sum = 0;
    for (const auto& [name, share] : summary["breakdown"].items())
        sum += share.get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);

    for (const Json& advice : Json::parse(run({"advise", trace, "--json"}).out)["advice"]) {
        EXPECT_TRUE(advice.contains("reason"));
        if (advice["id"] == "sync.every_n_steps") {
            EXPECT_EQ(advice["state"], "silent"); // reading a CPU tensor needs no wait
        }
        if (advice["state"] == "fires") {
            EXPECT_FALSE(advice["toggle"].is_null()) << advice["id"]; // the trace contains its configuration
            EXPECT_THAT(advice["evidence"], testing::Not(IsEmpty()));
        }
    }
}

TEST(Train, CtrlCStopsItAndTheTraceIsComplete)
{
    const Folder folder;
    const std::string trace = folder / "t.sstrace";
    const Ended stopped =
        runTrainer({"train", "--config", smallTraining(folder, 1000000), "-o", trace, "--json"}, "step ");
    ASSERT_EQ(stopped.status, 0) << stopped.err;
    EXPECT_EQ(Json::parse(stopped.out)["stopped"], true);
    EXPECT_TRUE(isSealed(trace));
    const Json summary = Json::parse(run({"summarize", trace, "--json"}).out);
    EXPECT_GT(summary["steps"]["count"], 0);
    EXPECT_THAT(summary["data_loss"]["notes"], IsEmpty());
}

TEST(Train, AMissingDatasetIsOneLine)
{
    const Folder folder;
    const Ended failed =
        runTrainer({"train", "--config", smallTraining(folder, 5), "--set", "dataset.kind=image_folder", "--set",
                    "dataset.path=" + (folder / "nothing").string(), "-o", folder / "t.sstrace", "--json"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.out, IsEmpty());
    EXPECT_THAT(failed.err, HasSubstr("nothing"));
    EXPECT_EQ(std::count(failed.err.begin(), failed.err.end(), '\n'), 1) << failed.err;
}

TEST(Describe, AsksTheTrainer)
{
    const Json json = Json::parse(run({"describe", "--json"}, STEPSCOPE_TRAIN).out);
    EXPECT_THAT(json["workloads"].dump(), HasSubstr("convnet"));
    EXPECT_THAT(json["datasets"].dump(), HasSubstr("image_folder"));
    EXPECT_GT(json["trainer"]["cores"], 0);
    EXPECT_EQ(json["trainer"]["gpu_reason_id"].is_null(), json["trainer"]["gpu_available"]);
    EXPECT_FALSE(json.contains("why_no_trainer"));
}

} // namespace
} // namespace cli_test
