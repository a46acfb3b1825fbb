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
    EXPECT_EQ(adviceOf(output, "parallel.kind")["reason_id"], "parallel.kind.ranks");
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

TEST_F(CliJob, RefusesWhatIsNoJob)
{
    std::filesystem::create_directories(m_folder / "empty");
    EXPECT_EQ(run({"summarize", (m_folder / "empty").string()}).status, 1);
    EXPECT_EQ(run({"summarize", (m_folder / "nowhere*").string()}).status, 1);
    writeJobTraces(m_folder / "job", m_options);
    EXPECT_EQ(run({"summarize", "--detailed", (m_folder / "job").string()}).status, 2);
}
