#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

// Real jobs: torchrun with Gloo.
namespace record_test {

namespace {

/// `record -o FOLDER/job/ --ops OPTIONS -- torchrun ranks_train.py ARGUMENTS`
Ended recordTraining(const Folder& folder, int ranks, const std::string& arguments, const std::string& options = {})
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " record --ops -o '" + (folder / "job").string() + "/' " +
                             options + " -- " + PYTHON_WITH_TORCH +
                             " -m torch.distributed.run --standalone --nproc-per-node " + std::to_string(ranks) + " " +
                             SCRIPTS + "/ranks_train.py " + arguments);
}

nlohmann::json summaryOf(const Folder& folder, const std::string& trace)
{
    const Ended ended =
        shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json '" + (folder / trace).string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
}

/// The summary of a job that was recorded into a folder.
nlohmann::json recordedJob(const Folder& folder, int ranks, const std::string& arguments,
                           const std::string& options = {})
{
    const Ended recorded = recordTraining(folder, ranks, arguments, options);
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    return summaryOf(folder, "job");
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

// Two machines: each has its own network, name and monotonic clock; they share the folder, and record into it.
TEST(RecordTorchrun, TwoMachinesRecordOneJobIntoASharedFolder)
{
    const Folder folder;
    const std::string machines =
        "set -e\nmount -t tmpfs tmpfs /run\nfor M in 1 2; do ip netns add m$M; ip -n m$M link set lo up; done\n"
        "ip link add v1 netns m1 type veth peer name v2 netns m2\n"
        "for M in 1 2; do ip -n m$M addr add 10.77.0.$M/24 dev v$M; ip -n m$M link set v$M up; done\n"
        "for M in 1 2; do export M; ip netns exec m$M unshare --uts --time --monotonic $(((M - 1) * 86400)) "
        "sh -c 'hostname machine$M; GLOO_SOCKET_IFNAME=v$M exec " +
        std::string(STEPSCOPE_CLI) + " record --ops -o " + (folder / "job").string() + "/ -- " + PYTHON_WITH_TORCH +
        " -m torch.distributed.run --nnodes 2 --node-rank $((M - 1)) --nproc-per-node 1 --master-addr 10.77.0.1 " +
        SCRIPTS + "/ranks_train.py 1' > " + (folder / "said").string() + "$M 2>&1 & done\nwait\n";
    const std::string own = "unshare --user --map-root-user --net --mount ";
    if (shell(folder, own + "sh -c 'mount -t tmpfs tmpfs /run && ip netns add m1 && ip netns exec m1 unshare --uts "
                            "--time true'")
            .status != 0)
        GTEST_SKIP() << "namespaces for the network and the clock are not allowed here";
    const Ended ended = shell(folder, own + "sh '" + folder.write("machines.sh", machines).string() + "'");
    std::ostringstream said;
    for (const char* name : {"said1", "said2"})
        said << std::ifstream(folder / name).rdbuf();
    ASSERT_EQ(ended.status, 0) << ended.err << said.str();

    std::ifstream file(folder / "job/job.json");
    const auto manifest = nlohmann::json::parse(file, nullptr, false);
    ASSERT_EQ(manifest["ranks"].size(), 2U) << manifest << said.str();
    EXPECT_EQ(manifest["ranks"][1]["host"], "machine2");
    const auto summary = summaryOf(folder, "job");
    ASSERT_EQ(summary["ranks"].size(), 2U);
    EXPECT_EQ(summary["ranks"][0]["host"], "machine1");
    EXPECT_EQ(summary["job"]["clock"]["method"], "collectives");
    EXPECT_GE(summary["job"]["matched"], 10);
    ASSERT_FALSE(summary["job"]["stragglers"].empty()) << summary["job"];
    EXPECT_EQ(summary["job"]["stragglers"][0]["rank"], 1);
    EXPECT_EQ(summary["job"]["stragglers"][0]["cause"], "slow_host");
}

TEST(RecordTorchrun, AllRanksRecordTheSameSteps)
{
    const Folder folder;
    const auto summary = recordedJob(folder, 2, "1 1 2", "--steps 8-15");
    ASSERT_EQ(summary["ranks"].size(), 2U);
    for (const auto& rank : summary["ranks"])
        EXPECT_EQ(rank["steps"]["count"], 8) << rank;
    for (const auto& number : summary["job"]["steps"]) {
        EXPECT_GE(number, 8);
        EXPECT_LE(number, 15);
    }
    EXPECT_GE(summary["job"]["steps"].size(), 4U) << "the first ones count as warm-up";
    EXPECT_GT(summary["counts"]["cpu_op"], 100);
    // The window lasts 8 steps of 30 ms, and the training 30 of them; loader workers follow their rank.
    for (const char* name : {"job/rank0.sstrace", "job/rank1.sstrace"}) {
        const auto rank = summaryOf(folder, name);
        EXPECT_EQ(rank["loader"]["workers"], 2) << name;
    }
    const auto queried = [&](const std::string& sql) {
        const Ended ended = shell(folder, std::string(STEPSCOPE_CLI) + " query '" +
                                              (folder / "job/rank1.sstrace").string() + "' --json \"" + sql + "\"");
        EXPECT_EQ(ended.status, 0) << ended.err;
        return nlohmann::json::parse(ended.out)["rows"][0][0].get<double>();
    };
    EXPECT_LT(queried("SELECT MAX(ts + dur) - MIN(ts) FROM slice"), 0.6e9);
    const double stages = queried("SELECT COUNT(*) FROM slice WHERE kind = 'loader_stage'");
    EXPECT_GE(stages, 6); // reading and collating of a batch, at least of some steps
    EXPECT_LT(stages, 2 * 30);
}

TEST(RecordTorchrun, StepsThatAreNeverReachedAreReported)
{
    const Folder folder;
    const auto report = folder / "report.json";
    const Ended ended = recordTraining(folder, 2, "", "--steps 500-600 --report '" + report.string() + "'");
    EXPECT_EQ(ended.status, 1) << ended.err;
    std::ifstream file(report);
    const auto error = nlohmann::json::parse(file)["error"];
    EXPECT_EQ(error["id"], "record.nothing.said");
    EXPECT_NE(error["what"].get<std::string>().find("after 30 training steps"), std::string::npos) << error;
}

TEST(RecordTorchrun, OneOfTwoRanksIsRecorded)
{
    const Folder folder;
    const auto summary = recordedJob(folder, 2, "", "--ranks 1");
    ASSERT_EQ(summary["ranks"].size(), 1U);
    EXPECT_EQ(summary["ranks"][0]["rank"], 1);
    EXPECT_EQ(summary["job"]["world_size"], 2);
}

TEST(RecordTorchrun, TrainingContinuesWhenTheLimitIsReached)
{
    const Folder folder;
    const auto report = folder / "report.json";
    const Ended ended = recordTraining(folder, 2, "-1 50", "--max-size 1MB --report '" + report.string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    for (const char* rank : {"rank 0", "rank 1"})
        EXPECT_NE(ended.out.find(rank + std::string(" has trained 50 epochs")), std::string::npos) << ended.out;
    std::ifstream file(report);
    std::size_t full = 0;
    const auto said = nlohmann::json::parse(file);
    for (const auto& note : said["note_messages"])
        full += note["id"] == "record.full.rank";
    EXPECT_EQ(full, 2U) << "each rank, and nothing else";
    for (const char* name : {"job/rank0.sstrace", "job/rank1.sstrace"}) {
        EXPECT_LT(std::filesystem::file_size(folder / name), 2'000'000);
        const auto rank = summaryOf(folder, name);
        EXPECT_GT(rank["steps"]["count"], 10);
        EXPECT_LT(rank["steps"]["count"], 50 * 30);
        EXPECT_EQ(rank["data_loss"]["note_messages"][0]["id"], "recorder.full") << rank["data_loss"];
    }
}

} // namespace record_test
