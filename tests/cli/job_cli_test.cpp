#include "tests/cli/cli_program.h"
#include "tests/support/job_traces.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace cli_test;
using nlohmann::json;
using test_support::Fault;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class CliJob : public testing::Test {
protected:
    [[nodiscard]] json summary(const std::vector<std::string>& traces) const
    {
        std::vector<std::string> arguments{"summarize", "--json"};
        arguments.insert(arguments.end(), traces.begin(), traces.end());
        const Ended ended = run(arguments);
        EXPECT_EQ(ended.status, 0) << ended.err;
        return json::parse(ended.out);
    }

    JobTraceOptions m_options{.ranks = 4, .ranksPerHost = 2, .steps = 8, .layers = 12};
    Folder m_folder;
};

const json& adviceOf(const json& output, std::string_view id)
{
    return *std::ranges::find_if(output["advice"], [&](const json& row) { return row["id"] == id; });
}

} // namespace

TEST_F(CliJob, FolderWithOneTraceIsThatTrace)
{
    m_options.ranks = 1;
    writeJobTraces(m_folder / "one", m_options);
    const std::string folder = (m_folder / "one").string(), pattern = (m_folder / "one" / "*.json").string();
    EXPECT_FALSE(summary({folder}).contains("job"));
    for (const std::vector<std::string>& words : {std::vector<std::string>{"advise", folder},
                                                  {"calls", pattern},
                                                  {"query", folder, "SELECT COUNT(*) FROM kernel"},
                                                  {"diff", folder, folder}}) {
        const Ended ended = run(words);
        EXPECT_EQ(ended.status, 0) << words.front() << ": " << ended.err;
        EXPECT_EQ(ended.out.find("ranks"), std::string::npos) << ended.out;
    }
}

TEST_F(CliJob, SummarizesAFolder)
{
    m_options.fault = Fault::SlowHost;
    m_options.faultyRanks = {1};
    m_options.lost = {3};
    writeJobTraces(m_folder / "job", m_options);
    const json all = summary({(m_folder / "job").string()});
    EXPECT_EQ(all["source"]["world_size"], 4);
    ASSERT_EQ(all["ranks"].size(), 3U);
    for (const char* field :
         {"rank", "host", "file", "step_us", "busy", "comm_exposed_us", "comm_wait_us", "comm_transfer_us", "late_us"})
        EXPECT_TRUE(all["ranks"][0].contains(field)) << field;
    EXPECT_EQ(all["ranks"][2]["host"], "node1");
    const json& job = all["job"];
    EXPECT_EQ(job["world_size"], 4);
    EXPECT_EQ(job["slowest_rank"], 1);
    EXPECT_EQ(job["missing_ranks"], json::array({3}));
    EXPECT_EQ(job["clock"]["method"], "collectives");
    EXPECT_LT(job["clock"]["error_us"], 5);
    ASSERT_EQ(job["stragglers"].size(), 1U);
    EXPECT_EQ(job["stragglers"][0]["rank"], 1);
    EXPECT_EQ(job["stragglers"][0]["cause"], "slow_host");
    EXPECT_GT(job["stragglers"][0]["late_us"], 0.25 * 3 * 300 * 12);
    EXPECT_LT(job["stragglers"][0]["late_us"], 0.5 * 3 * 300 * 12);
    EXPECT_GT(job["efficiency"], 0.5);
    EXPECT_LT(job["efficiency"], 1);
}

TEST_F(CliJob, AddsUpTheOtherSectionsOverTheRanks)
{
    const auto files = writeJobTraces(m_folder / "job", m_options);
    const json all = summary({(m_folder / "job").string()});
    json one = summary({files[0].string()});
    EXPECT_FALSE(one.contains("ranks"));
    double kernels = 0, exposedUs = 0, syncCalls = 0;
    for (const auto& file : files) {
        one = summary({file.string()});
        kernels += one["counts"]["kernel"].get<double>();
        exposedUs += one["comm"]["exposed_us"].get<double>();
        syncCalls += one["sync"]["calls"].get<double>();
    }
    EXPECT_EQ(all["counts"]["kernel"], kernels);
    EXPECT_NEAR(all["comm"]["exposed_us"], exposedUs, 1);
    EXPECT_EQ(all["sync"]["calls"], syncCalls);
    EXPECT_EQ(all["devices"].size(), 4U);
    double shares = 0;
    for (const json& share : all["breakdown"])
        shares += share.get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(CliJob, TakesSeveralFilesAndPatterns)
{
    const auto files = writeJobTraces(m_folder / "job", m_options);
    EXPECT_EQ(summary({files[0].string(), files[2].string()})["ranks"].size(), 2U);
    EXPECT_EQ(summary({(m_folder / "job" / "rank*.json").string()})["ranks"].size(), 4U);
}

TEST_F(CliJob, ShowsATable)
{
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {2};
    writeJobTraces(m_folder / "job", m_options);
    const Ended ended = run({"summarize", (m_folder / "job").string()});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find("Job of 4 ranks"), std::string::npos);
    EXPECT_NE(ended.out.find("Rank 2 arrives"), std::string::npos);
    EXPECT_EQ(ended.out.find("How the work is divided"), std::string::npos);
    m_options.fault = Fault::SlowCompute;
    m_options.tokenSkew = 1;
    writeJobTraces(m_folder / "uneven", m_options);
    const std::string uneven = run({"summarize", (m_folder / "uneven").string()}).out;
    EXPECT_NE(uneven.find("Compute is uneven"), std::string::npos);
    EXPECT_NE(uneven.find("All-to-alls are uneven"), std::string::npos);
}

TEST_F(CliJob, AdvisesOnAllRanks)
{
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {2};
    writeJobTraces(m_folder / "job", m_options);
    const Ended ended = run({"advise", (m_folder / "job").string(), "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json output = json::parse(ended.out);
    EXPECT_EQ(output["job"]["rank"], 2);
    const json& late = adviceOf(output, "comm.stragglers");
    EXPECT_EQ(late["state"], "fires");
    EXPECT_EQ(late["reason_id"], "job.straggler.loader");
    EXPECT_EQ(late["parameters"]["rank"], 2);
    EXPECT_EQ(adviceOf(output, "comm.exposed")["reason_id"], "comm.exposed.job");
    EXPECT_EQ(adviceOf(output, "parallel.kind")["reason_id"], "parallel.kind.job");
}

TEST_F(CliJob, AdvisesOnTheChosenRank)
{
    writeJobTraces(m_folder / "job", m_options);
    const Ended ended = run({"advise", (m_folder / "job").string(), "--json", "--rank", "3"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json output = json::parse(ended.out);
    EXPECT_EQ(output["job"]["rank"], 3);
    EXPECT_EQ(adviceOf(output, "comm.stragglers")["state"], "silent");
    const Ended none = run({"advise", (m_folder / "job").string(), "--rank", "9"});
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.err.find("rank 9"), std::string::npos);
}

TEST_F(CliJob, AdvisesOnTheExchangeOfGradients)
{
    writeJobTraces(m_folder / "buckets", m_options);
    m_options.parameterExchanges = 60;
    writeJobTraces(m_folder / "parameters", m_options);
    const auto advice = [&](const char* job) {
        const Ended ended = run({"advise", (m_folder / job).string(), "--json"});
        EXPECT_EQ(ended.status, 0) << ended.err;
        return json::parse(ended.out);
    };
    const json buckets = advice("buckets"), parameters = advice("parameters");
    EXPECT_EQ(adviceOf(buckets, "comm.buckets")["state"], "silent");
    EXPECT_EQ(adviceOf(buckets, "comm.buckets")["reason_id"], "comm.buckets.job_few");
    const json& fires = adviceOf(parameters, "comm.buckets");
    EXPECT_EQ(fires["state"], "fires");
    EXPECT_EQ(fires["reason_id"], "comm.buckets.job");
    EXPECT_EQ(fires["parameters"]["kernels"], 60);
    EXPECT_EQ(fires["parameters"]["size"], (1 << 12) * 4);
    EXPECT_EQ(adviceOf(parameters, "gradient.accumulation")["reason_id"], "gradient.accumulation.exchanges");
}

TEST_F(CliJob, NamesTheKindsOfParallelism)
{
    m_options.ranks = 8;
    m_options.pipelineStages = 4;
    writeJobTraces(m_folder / "job", m_options);
    const Ended ended = run({"advise", (m_folder / "job").string(), "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json kind = adviceOf(json::parse(ended.out), "parallel.kind");
    EXPECT_EQ(kind["state"], "silent");
    EXPECT_EQ(kind["reason_id"], "parallel.kind.job");
    EXPECT_NE(kind["parameters"]["roles"].get<std::string>().find("pipeline"), std::string::npos);
    const json job = summary({(m_folder / "job").string()})["job"];
    EXPECT_EQ(job["pipeline"]["stages"], 4);
    EXPECT_GT(job["pipeline"]["bubble"], 0.1);
}

TEST_F(CliJob, ShowsTheBandwidthOfTheLink)
{
    writeJobTraces(m_folder / "job", m_options);
    const json use = summary({(m_folder / "job").string()})["job"]["collectives"][0];
    EXPECT_EQ(use["kind"], "all_reduce");
    EXPECT_EQ(use["group"], "data");
    EXPECT_EQ(use["link"], "between hosts");
    EXPECT_GE(use["link_best_bus_gb_per_s"].get<double>(), use["bus_gb_per_s"].get<double>());
    EXPECT_NEAR(use["bus_gb_per_s"].get<double>(), 1.5 * use["algorithm_gb_per_s"].get<double>(), 1e-6);
}

TEST_F(CliJob, ComparesTwoJobs)
{
    writeJobTraces(m_folder / "a", m_options);
    m_options.fault = Fault::SlowLoader;
    m_options.faultyRanks = {2};
    writeJobTraces(m_folder / "b", m_options);
    const std::string a = (m_folder / "a").string(), b = (m_folder / "b").string();
    const Ended ended = run({"diff", a, b, "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json found = json::parse(ended.out);
    EXPECT_EQ(found["comparable"], true) << found["why_not"];
    EXPECT_EQ(found["verdict"], "slower");
    EXPECT_LT(found["statistic"]["ci95"][1], 1);
    EXPECT_EQ(found["world_size"]["b"], 4);
    EXPECT_LT(found["step_us"]["ratio"], 0.95);
    EXPECT_LT(found["efficiency"]["b"], found["efficiency"]["a"]);
    const double lateUs = 0.25 * 3 * 300 * m_options.layers;
    const double waitUs = found["time_us"]["wait"]["delta_us"].get<double>();
    EXPECT_GT(waitUs, 0.4 * lateUs);
    EXPECT_NEAR(waitUs + found["time_us"]["transfer"]["delta_us"].get<double>(), 0.75 * lateUs, 0.1 * lateUs);
    EXPECT_GT(found["groups"][0]["exposed_us"]["b"], found["groups"][0]["exposed_us"]["a"]);
    ASSERT_EQ(found["stragglers"].size(), 1U);
    EXPECT_EQ(found["stragglers"][0]["rank"], 2);
    EXPECT_EQ(found["stragglers"][0]["change"], "appeared");
    EXPECT_EQ(found["stragglers"][0]["b"]["cause"], "slow_loader");
    ASSERT_EQ(found["ranks"].size(), 4U);
    EXPECT_GT(found["ranks"][0]["comm_wait_us"]["b"], found["ranks"][0]["comm_wait_us"]["a"]);
    const json back = json::parse(run({"diff", b, a, "--json"}).out);
    EXPECT_EQ(back["verdict"], "faster");
    EXPECT_EQ(back["stragglers"][0]["change"], "gone");
    EXPECT_NE(run({"diff", a, b}).out.find("Only in b: Rank 2 arrives"), std::string::npos);
}

TEST_F(CliJob, FailsForASlowerJob)
{
    writeJobTraces(m_folder / "a", m_options);
    m_options.fault = Fault::Throttling;
    m_options.faultyRanks = {0, 1, 2, 3};
    writeJobTraces(m_folder / "b", m_options);
    const std::string a = (m_folder / "a").string(), b = (m_folder / "b").string();
    const Ended slower = run({"diff", a, b, "--fail-if-slower", "5", "--json"});
    EXPECT_EQ(slower.status, 3);
    EXPECT_EQ(json::parse(slower.out)["check"]["why_id"], "slowdown.beyond_limit");
    EXPECT_EQ(run({"diff", a, b, "--fail-if-slower", "60"}).status, 0);
    EXPECT_EQ(run({"diff", b, a, "--fail-if-slower", "5"}).status, 0);
}

TEST_F(CliJob, SaysWhyJobsAreNotComparable)
{
    writeJobTraces(m_folder / "a", m_options);
    m_options.device = "NVIDIA A100-SXM4-80GB";
    writeJobTraces(m_folder / "b", m_options);
    const std::string a = (m_folder / "a").string(), b = (m_folder / "b").string();
    const Ended ended = run({"diff", a, b, "--json", "--fail-if-slower", "50"});
    EXPECT_EQ(ended.status, 3);
    const json found = json::parse(ended.out);
    EXPECT_EQ(found["verdict"], "not comparable");
    EXPECT_EQ(found["why_not_messages"][0]["id"], "diff.not_comparable.hardware");
    EXPECT_EQ(run({"diff", a, b, "--step", "12"}).status, 2);
    EXPECT_EQ(run({"diff", a, (m_folder / "nowhere*").string()}).status, 1);
}

TEST_F(CliJob, ComparesJobsOfDifferentSizesWithANote)
{
    writeJobTraces(m_folder / "a", m_options);
    m_options.ranks = 8;
    writeJobTraces(m_folder / "b", m_options);
    const Ended ended = run({"diff", (m_folder / "a").string(), (m_folder / "b").string(), "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json found = json::parse(ended.out);
    EXPECT_EQ(found["comparable"], true) << found["why_not"];
    EXPECT_EQ(found["notes_messages"][0]["id"], "diff.job.world_sizes");
    EXPECT_EQ(found["ranks"].size(), 8U);
    EXPECT_TRUE(found["ranks"][7]["step_us"].is_null());
}

TEST_F(CliJob, ShowsAScalingCurve)
{
    std::vector<std::string> arguments{"summarize", "--scaling", "--json"};
    for (const int ranks : {4, 2, 8}) {
        m_options.ranks = ranks;
        if (ranks == 8) {
            m_options.fault = Fault::SlowLink;
            m_options.faultyRanks = {0};
        }
        const std::string folder = (m_folder / ("ranks" + std::to_string(ranks))).string();
        writeJobTraces(folder, m_options);
        arguments.push_back(folder);
    }
    const Ended ended = run(arguments);
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json found = json::parse(ended.out);
    ASSERT_EQ(found["scaling"].size(), 3U);
    EXPECT_EQ(found["scaling"][0]["ranks"], 2);
    EXPECT_EQ(found["scaling"][0]["efficiency"], 1);
    EXPECT_NEAR(found["scaling"][1]["speedup"].get<double>(), 2, 0.1);
    EXPECT_EQ(found["scaling"][2]["causes"][0], "transfer");
    EXPECT_EQ(found["note_messages"][0]["id"], "scaling.batch_unknown");
    arguments.erase(arguments.begin() + 2);
    EXPECT_NE(run(arguments).out.find("exposed transfer"), std::string::npos);
    EXPECT_EQ(run({"summarize", "--scaling", arguments.back()}).status, 1);
    EXPECT_EQ(run({"summarize", "--scaling", "--detailed", arguments[2], arguments[3]}).status, 2);
}

TEST_F(CliJob, RejectsFilesThatAreNotAJob)
{
    std::filesystem::create_directories(m_folder / "empty");
    EXPECT_EQ(run({"summarize", (m_folder / "empty").string()}).status, 1);
    EXPECT_EQ(run({"summarize", (m_folder / "nowhere*").string()}).status, 1);
    writeJobTraces(m_folder / "job", m_options);
    EXPECT_EQ(run({"summarize", "--detailed", (m_folder / "job").string()}).status, 2);
}
