#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr std::string_view kRun = R"(
    device 0 "NVIDIA H100" GPU-1
    main pid=10 tid=10
      repeat 4 every 100
        step 0 0 100
        phase "data wait" 0 20
        call cudaLaunchKernel 20 5 corr=5
        nvtx forward 20 50
      end
    stream 0 7
      repeat 4 every 100
        kernel gemm 30 40 corr=5
      end
)";

TEST(Convert, ToPytorchsJsonKeepsTheSummary)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    const Ended ended = run({"convert", trace, folder / "b.json.gz"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("20 slices"));
    const Json before = Json::parse(run({"summarize", trace, "--json"}).out);
    const Json after = Json::parse(run({"summarize", folder / "b.json.gz", "--json"}).out);
    EXPECT_EQ(after["source"]["format"], "pytorch-json");
    for (const char* key : {"kernel_time_us", "devices", "breakdown", "top_kernels", "sync"})
        EXPECT_EQ(after[key], before[key]) << key;
    EXPECT_EQ(after["steps"]["list_us"], before["steps"]["list_us"]);
    EXPECT_EQ(after["counts"]["nvtx"], 4);
}

TEST(Convert, AnImportedTraceKeepsItsFiguresInOurFormat)
{
    const Folder folder;
    for (const char* name : {"pytorch_2.json.gz", "pytorch_1_8.json"}) {
        const std::string source = std::string(STEPSCOPE_JSON_CORPUS) + "/" + name;
        const Ended ended = run({"convert", source, folder / "b.sspack"});
        ASSERT_EQ(ended.status, 0) << ended.err;
        for (const char* command : {"summarize", "advise"}) {
            Json before = Json::parse(run({command, source, "--json"}).out);
            Json after = Json::parse(run({command, folder / "b.sspack", "--json"}).out);
            for (Json* json : {&before, &after})
                json->erase("file");
            EXPECT_EQ(after, before) << command << " " << name;
        }
    }
}

TEST(Convert, ToPerfettoAndTables)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    for (const char* name : {"b.pftrace", "b.csv"}) {
        EXPECT_EQ(run({"convert", trace, folder / name}).status, 0) << name;
        EXPECT_GT(std::filesystem::file_size(folder / name), 500U) << name;
    }
}

TEST(Convert, NeverReplacesItsSource)
{
    const Folder folder;
    const auto trace = folder.trace("a.json", kRun);
    const Ended ended = run({"convert", trace, trace});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("would overwrite its source"));
}

TEST(Convert, ListsTheKnownExtensions)
{
    const Folder folder;
    const Ended ended = run({"convert", folder.trace("a.sstrace", kRun), folder / "b.xyz"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr(".json.gz"));
}

TEST(Convert, LeavesNothingForAFileThatIsNotATrace)
{
    const Folder folder;
    const auto file = folder.write("a.txt", "no trace");
    EXPECT_EQ(run({"convert", file, folder / "b.json"}).status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "b.json"));
}

TEST(Summarize, TakesARangeForSteps)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    const Json json = Json::parse(run({"summarize", trace, "--json", "--step-range", "forward"}).out);
    EXPECT_EQ(json["steps"]["count"], 4);
    EXPECT_EQ(json["steps"]["mean_us"], 50);
    const Ended wrong = run({"summarize", trace, "--step-range", "backward"});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, HasSubstr("the trace contains no range named backward"));
    const auto ranges = folder.trace("b.sstrace", "main\n nvtx \"Train step: 1\" 0 9\n nvtx \"Train step: 2\" 10 9\n"
                                                  "nvtx load 0 8\n nvtx load 10 20");
    EXPECT_THAT(run({"summarize", ranges, "--step-range", "Step"}).err, HasSubstr("in the trace: Train step, load"));
    EXPECT_THAT(run({"summarize", ranges, "--step-range", "load 10"}).err, HasSubstr("trace: load, Train step"));
}

TEST(Summarize, ReportsEachRankOfATrace)
{
    const Folder folder;
    const std::string trace = folder.trace("ranks.sstrace", R"(
        main pid=1
          repeat 6 every 100
            step 0 0 100
          end
        thread other pid=2
          repeat 5 every 120
            step 0 1 120
            op aten::mm 10 60
          end
        stream 0 7 pid=1
          kernel a 0 300
        stream 1 7 pid=2
          kernel a 0 400
          kernel a 450 50
    )");
    const Json json = Json::parse(run({"summarize", trace, "--json"}).out);
    EXPECT_EQ(json["steps"]["processes"], 2);
    EXPECT_EQ(json["steps"]["count"], 5) << "those of the slowest rank";
    EXPECT_EQ(json["steps"]["rank"], 1);
    ASSERT_EQ(json["ranks"].size(), 2U);
    EXPECT_EQ(json["ranks"][0]["process"], 1);
    EXPECT_EQ(json["ranks"][0]["devices"], Json::array({0}));
    EXPECT_EQ(json["ranks"][0]["steps"]["count"], 6);
    EXPECT_EQ(json["ranks"][0]["step_us"], 100);
    EXPECT_EQ(json["ranks"][0]["busy"], 1);
    EXPECT_EQ(json["ranks"][0]["breakdown"]["kernel"], 0.5) << "of 600 µs its own device works 300";
    EXPECT_EQ(json["ranks"][0]["breakdown"]["cpu_op"], 0);
    EXPECT_EQ(json["ranks"][1]["steps"]["count"], 5);
    EXPECT_EQ(json["ranks"][1]["step_us"], 120);
    EXPECT_EQ(json["ranks"][1]["busy"], 0.9);
    EXPECT_EQ(json["job"]["world_size"], 2);
    EXPECT_EQ(json["job"]["step_us"], 120);
    EXPECT_EQ(json["job"]["slowest_rank"], 1);
    EXPECT_EQ(json["devices"].size(), 2U);
    EXPECT_THAT(run({"summarize", trace}).out, HasSubstr("Step times and phases are those of rank 1"));
    const std::string alone = folder.trace("one.sstrace", "main pid=1\n step 0 0 100\nstream 0 7 pid=1\n kernel a 0 9");
    EXPECT_FALSE(Json::parse(run({"summarize", alone, "--json"}).out).contains("ranks"));
}

TEST(Advise, AnalysesOneRankAndNamesIt)
{
    const Folder folder;
    const std::string trace = folder.trace("ranks.sstrace", R"(
        device 0 gpu
        device 1 gpu
        repeat 20 every 100
          main pid=1
            step 0 0 100
            op aten::mm 0 10
          stream 0 7 pid=1
            kernel a 5 90
        end
        repeat 20 every 105
          thread other pid=2
            step 0 0 105
            phase "data wait" 0 80
            op aten::mm 80 10
          stream 1 7 pid=2
            kernel a 85 15
        end
    )");
    const Json advice = Json::parse(run({"advise", trace, "--json"}).out)["advice"];
    bool found = false;
    for (const Json& row : advice)
        if (row["id"] == "loader.workers") {
            found = true;
            EXPECT_EQ(row["state"], "fires")
                << row["reason"] << ": rank 0 waits for nothing, rank 1 for most of a step";
            EXPECT_THAT(row["caveats"].dump(), HasSubstr("Based on rank 1"));
        }
    EXPECT_TRUE(found);
}

TEST(StepsFromRepetition, AreOptionalInEachCommand)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", R"(
        main
          repeat 6 every 100
            op aten::linear 0 40
            op aten::mse_loss 40 10
            op LinearBackward 50 30
            op aten::add_ 80 20
          end
    )");
    for (const char* search : {"marks", "none"}) {
        const Json unmarked = Json::parse(run({"summarize", trace, "--json", "--steps-from", search}).out);
        EXPECT_EQ(unmarked["steps"]["count"], 0);
        EXPECT_FALSE(unmarked["steps"].contains("from"));
    }
    const Json unasked = Json::parse(run({"summarize", trace, "--json"}).out);
    EXPECT_EQ(unasked["steps"]["count"], 6);
    EXPECT_EQ(unasked["steps"]["from"], "repetition");
    const Json found = Json::parse(run({"summarize", trace, "--json", "--steps-from", "repetition"}).out);
    EXPECT_EQ(found["steps"]["count"], 6);
    EXPECT_EQ(found["steps"]["median_us"], 100);
    EXPECT_EQ(found["steps"]["from"], "repetition");
    EXPECT_THAT(run({"summarize", trace, "--steps-from", "repetition"}).out, HasSubstr("inferred from repeated work"));

    const Json same = Json::parse(run({"diff", trace, trace, "--json", "--steps-from", "repetition"}).out);
    EXPECT_EQ(same["step_us"]["ratio"], 1);
    const Json advised = Json::parse(run({"advise", trace, "--json"}).out);
    EXPECT_EQ(advised["steps"]["count"], 6);
    EXPECT_EQ(advised["steps"]["from"], "repetition");
    EXPECT_THAT(run({"advise", trace}).out, HasSubstr("inferred from repeated work"));
    const Json without = Json::parse(run({"advise", trace, "--json", "--steps-from", "none"}).out);
    EXPECT_EQ(without["steps"]["count"], 0);
    EXPECT_EQ(without["steps"]["from"], nullptr);
    const std::string html = folder / "report.html";
    EXPECT_EQ(run({"report", trace, "-o", html, "--steps-from", "repetition"}).status, 0);
    std::ifstream file(html);
    const std::string report{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(report, HasSubstr("6 steps, inferred from repeated work: median"));
}

TEST(StepsFromRepetition, SayWhyThereAreNone)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", "main\n op aten::mm 0 10\n op aten::add 10 10");
    for (const char* command : {"summarize", "advise"}) {
        const Ended none = run({command, trace, "--steps-from", "repetition"});
        EXPECT_EQ(none.status, 1);
        EXPECT_THAT(none.err, HasSubstr("No sequence of operators repeats"));
        EXPECT_THAT(none.err, HasSubstr("leave out --steps-from"));
    }
    EXPECT_NE(run({"summarize", trace, "--steps-from", "repetition", "--step-range", "a"}).status, 0);
}

} // namespace
} // namespace cli_test
