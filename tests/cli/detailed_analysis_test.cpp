#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kGpuRun = R"(
        device 0 "NVIDIA H100" GPU-1
        repeat 4 every 100
          main
            step 0 0 100
            op aten::mm 15 30
            call cudaLaunchKernel 20 5 corr=5
            op aten::zero_ 45 10
            call cudaMemsetAsync 48 2 corr=6
            op aten::item 55 30
            call cudaStreamSynchronize 60 20
          stream 0 7
            kernel gemm 30 40 corr=5
            memset Memset 75 1 bytes=64 corr=6
            copy DtoH 77 2 bytes=4 src=device dst=pageable
        end
)";

constexpr std::string_view kCpuRun = R"(
    main
      repeat 20 every 1000
        step 0 0 1000
        phase "data wait" 0 600
        op aten::linear 600 400
      end
)";

Json jsonOf(const std::vector<std::string>& arguments)
{
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out);
}

/// Reasons by the key that gives them; empty if there is a result.
std::map<std::string, std::string> reasonsOf(const Json& json)
{
    std::map<std::string, std::string> reasons;
    for (const char* key :
         {"launches", "copy_bandwidth", "memset_origins", "sync_callers", "loader_workers", "stragglers"})
        reasons[key] = json[key]["cannot_tell"].is_null() ? "" : json[key]["cannot_tell"].get<std::string>();
    return reasons;
}

TEST(DetailedSummary, AnalysesAGpuRun)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", kGpuRun);
    const Json json = jsonOf({"summarize", trace, "--detailed", "--json"});
    for (const char* key : {"data_loss", "launches", "critical_path", "copy_bandwidth", "memset_origins",
                            "sync_callers", "loader_workers", "stragglers"})
        EXPECT_TRUE(json.contains(key)) << key;
    const Json device = json["launches"]["devices"].at(0);
    EXPECT_EQ(device["launches_per_step"], 2);
    EXPECT_EQ(device["call_us"]["median"], 5);
    EXPECT_EQ(device["delay_us"]["median"], 18.5); // of 10 and 27
    EXPECT_EQ(device["queue"]["max"], 1);
    EXPECT_EQ(device["launched_into_empty"], 0.5); // a kernel is running when the memset starts
    EXPECT_EQ(json["memset_origins"]["sites"].at(0)["ops"], "aten::zero_");
    EXPECT_EQ(json["memset_origins"]["sites"].at(0)["count_per_step"], 1);
    EXPECT_EQ(json["sync_callers"]["sites"].at(0)["ops"], "aten::item");
    EXPECT_EQ(json["sync_callers"]["time_us"], 60);
    EXPECT_EQ(json["copy_bandwidth"]["classes"].at(0)["bytes"], 12);
    EXPECT_TRUE(json["copy_bandwidth"]["classes"].at(0)["of_best"].is_null());
    EXPECT_EQ(json["critical_path"]["total_us"], 300); // the first step is warm-up
    EXPECT_EQ(json["critical_path"]["steps"], 3);
    EXPECT_EQ(json["critical_path"]["only_steps_with_ops"], false);
    EXPECT_GT(json["critical_path"]["device_us"], 0);
    EXPECT_THAT(reasonsOf(json)["stragglers"], HasSubstr("no kernels of collective communication"));
    EXPECT_EQ(reasonsOf(json)["launches"], "");

    const std::string text = run({"summarize", trace, "--detailed"}).out;
    for (const char* part : {"Kernel launches and launch queue", "What decided the duration", "Memset callers",
                             "Synchronization callers", "aten::item", "What the trace does not record"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(DetailedSummary, IsPrintedOnlyOnRequest)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", kGpuRun);
    const std::string text = run({"summarize", trace}).out, detailed = run({"summarize", "--detailed", trace}).out;
    EXPECT_THAT(text, Not(HasSubstr("What decided the duration")));
    EXPECT_THAT(text, Not(HasSubstr("What the trace does not record")));
    EXPECT_THAT(detailed, StartsWith(text)) << "everything else is the same";
    EXPECT_EQ(run({"summarize", "--closer", trace}).out, detailed) << "the option's former name";
    EXPECT_THAT(detailed, HasSubstr("What decided the duration"));
}

TEST(DetailedSummary, LooksCloserAtEachStepAlike)
{
    const Folder folder;
    std::string run8 = "repeat 8 every 100\nmain\nstep 0 0 100\nphase forward 0 90\n"
                       "call cudaMemsetAsync 10 2 corr=6\ncall cudaMemsetAsync 20 2 corr=7\n"
                       "stream 0 7\nmemset Memset 15 1 bytes=1000 corr=6\nmemset Memset 25 2 bytes=3000 corr=7\nend\n";
    const std::string text = run({"summarize", folder.trace("a.sstrace", run8), "--detailed"}).out;
    EXPECT_THAT(text, ContainsRegex("Calls per step +Bytes per step +Time per step"));
    EXPECT_THAT(text, ContainsRegex("cudaMemsetAsync +2 +4\\.00 kB +3\\.00 µs"));
    EXPECT_THAT(text, ContainsRegex("forward +host +[0-9.]+ µs"));
    EXPECT_THAT(text, HasSubstr("Only work in this table is worth shortening"));
    EXPECT_THAT(text, Not(HasSubstr("those with recorded operators")));

    run8 += "main\n";
    for (int i = 0; i < 12; ++i) // more than fit into the table
        run8 += "op aten::op" + std::to_string(i) + " " + std::to_string(430 + 5 * i) + " 5\n";
    const std::string trace = folder.trace("b.sstrace", run8);
    const std::string some = run({"summarize", trace, "--detailed"}).out;
    EXPECT_THAT(some, HasSubstr("Covers 1 of 7 steps, those with recorded operators"));
    EXPECT_THAT(some, HasSubstr("more rows are not shown"));
    EXPECT_THAT(some, Not(HasSubstr("Only work in this table")));
    const Json path = jsonOf({"summarize", trace, "--detailed", "--json"})["critical_path"];
    EXPECT_EQ(path["only_steps_with_ops"], true);
    EXPECT_EQ(path["total_us"], 100);
}

TEST(DetailedSummary, ListsWhatTheTraceDoesNotSupport)
{
    const Folder folder;
    const Json json = jsonOf({"summarize", folder.trace("a.sstrace", kCpuRun), "--detailed", "--json"});
    for (const auto& [key, reason] : reasonsOf(json))
        EXPECT_NE(reason, "") << key;
    EXPECT_EQ(json["critical_path"]["total_us"], 19000);
    const std::string text = run({"summarize", folder.trace("b.sstrace", kCpuRun), "--detailed"}).out;
    EXPECT_THAT(text, HasSubstr("Device work"));
    EXPECT_THAT(text, Not(HasSubstr("Ranks that the others wait for")));
}

} // namespace
} // namespace cli_test
