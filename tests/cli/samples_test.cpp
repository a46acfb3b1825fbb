#include "tests/cli/cli_program.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>

// Each trace of resources/samples shows what its label in the app says.

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t kMostBytes = 2'000'000;

fs::path sample(const char* name)
{
    return fs::path(STEPSCOPE_SOURCE_DIR) / "resources/samples" / name;
}

json output(const char* command, const fs::path& trace)
{
    const Ended ended = run({command, trace.string(), "--json"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(ended.out, nullptr, false);
}

/// The reasons of the rules that fire, by the rule's key.
std::map<std::string, std::string> findings(const fs::path& trace)
{
    std::map<std::string, std::string> fired;
    const json all = output("advise", trace);
    for (const json& row : all["advice"])
        if (row["state"] == "fires")
            fired[row["id"]] = row["reason_id"];
    return fired;
}

TEST(Samples, AreSmall)
{
    std::uintmax_t job = 0;
    std::size_t traces = 0;
    for (const auto& entry : fs::recursive_directory_iterator(sample("")))
        if (entry.path().extension() == ".sstrace") {
            EXPECT_LT(entry.file_size(), kMostBytes) << entry.path();
            job += entry.path().parent_path().filename() == "late_rank" ? entry.file_size() : 0;
            ++traces;
        }
    EXPECT_LT(job, kMostBytes);
    EXPECT_EQ(traces, 3U + 8U);
}

TEST(Samples, LoaderStall)
{
    const auto fired = findings(sample("loader_stall.sstrace"));
    ASSERT_TRUE(fired.contains("loader.workers"));
    const json summary = output("summarize", sample("loader_stall.sstrace"));
    EXPECT_GT(summary["breakdown"]["data_loader"], 0.25);
}

TEST(Samples, WellFed)
{
    for (const auto& [rule, reason] : findings(sample("well_fed.sstrace")))
        EXPECT_FALSE(rule.starts_with("loader.") || rule.starts_with("data.")) << rule << ": " << reason;
    const json summary = output("summarize", sample("well_fed.sstrace"));
    EXPECT_LT(summary["breakdown"]["data_loader"], 0.1);
    const json stall = output("summarize", sample("loader_stall.sstrace"));
    EXPECT_LT(summary["steps"]["steady_mean_us"], 0.8 * stall["steps"]["steady_mean_us"].get<double>());
}

TEST(Samples, LaunchBound)
{
    EXPECT_EQ(findings(sample("launch_bound.sstrace"))["host.bound"], "host.bound.first_cause");
}

TEST(Samples, LateRank)
{
    const json all = output("summarize", sample("late_rank"));
    EXPECT_EQ(all["job"]["world_size"], 8);
    ASSERT_EQ(all["job"]["stragglers"].size(), 1U);
    EXPECT_EQ(all["job"]["stragglers"][0]["rank"], 5);
    EXPECT_EQ(findings(sample("late_rank"))["comm.stragglers"], "job.straggler.loader");
}

} // namespace
} // namespace cli_test
