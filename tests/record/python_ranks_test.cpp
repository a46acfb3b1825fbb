#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <gmock/gmock.h>

// Real jobs: torchrun with Gloo.
namespace record_test {

namespace {

/// The summary of a job that was recorded into a folder.
nlohmann::json recordedJob(const Folder& folder, int ranks, const std::string& arguments)
{
    const std::string job = "'" + (folder / "job").string() + "'";
    const Ended recorded = shell(folder, std::string(STEPSCOPE_CLI) + " record --ops -o " + job + "/ -- " +
                                             PYTHON_WITH_TORCH + " -m torch.distributed.run --nproc-per-node " +
                                             std::to_string(ranks) + " " + SCRIPTS + "/ranks_train.py " + arguments);
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    const Ended ended = shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json " + job);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
}

} // namespace

TEST(RecordTorchrun, TwoRanksAreAJobWhoseLateRankIsFound)
{
    const Folder folder;
    const auto summary = recordedJob(folder, 2, "1");
    ASSERT_EQ(summary["ranks"].size(), 2U);
    EXPECT_EQ(summary["job"]["clock"]["method"], "collectives");
    EXPECT_GE(summary["job"]["matched"], 10); // each of 30 steps has a collective
    ASSERT_FALSE(summary["job"]["stragglers"].empty()) << summary["job"];
    EXPECT_EQ(summary["job"]["stragglers"][0]["rank"], 1);
    EXPECT_EQ(summary["job"]["stragglers"][0]["cause"], "slow_host");
    EXPECT_NEAR(summary["job"]["stragglers"][0]["late_us"], 30'000, 20'000); // the machine may be busy
}

TEST(RecordTorchrun, FourRanksHaveFourTraces)
{
    const Folder folder;
    const auto summary = recordedJob(folder, 4, "");
    EXPECT_EQ(summary["ranks"].size(), 4U);
    EXPECT_EQ(summary["job"]["world_size"], 4);
    EXPECT_GE(summary["job"]["matched"], 10); // each of 30 steps has a collective
}

} // namespace record_test
