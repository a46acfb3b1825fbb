#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>

// The ranks of a job get one trace each, in one folder.
namespace record_test {

using testing::ElementsAre;

namespace {

const std::string kProgram = NVTX_PROGRAM;

/// `stepscope-cli record -o FOLDER/job/ -- COMMAND`
Ended recordJob(const Folder& folder, const std::string& command)
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "job").string() + "/' -- " + command);
}

nlohmann::json jobSummary(const Folder& folder)
{
    const Ended ended =
        shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json '" + (folder / "job").string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
}

std::set<std::string> filesOf(const std::filesystem::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

} // namespace

TEST(RecordRanks, EachRankHasATraceAndTheFolderAManifest)
{
    const Folder folder;
    const auto script = folder.write("launch.sh", "export WORLD_SIZE=3\nfor RANK in 0 1 2; do export RANK; " +
                                                      kProgram + " ranges & done\nwait\n");
    const Ended ended = recordJob(folder, "sh " + script.string());
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(filesOf(folder / "job"), ElementsAre("job.json", "rank0.sstrace", "rank1.sstrace", "rank2.sstrace"));
    std::ifstream file(folder / "job" / "job.json");
    const auto manifest = nlohmann::json::parse(file);
    EXPECT_EQ(manifest["world_size"], 3);
    ASSERT_EQ(manifest["ranks"].size(), 3U);
    EXPECT_EQ(manifest["ranks"][1]["file"], "rank1.sstrace");
    EXPECT_EQ(manifest["ranks"][1]["events"], 4);
    const auto summary = jobSummary(folder);
    ASSERT_EQ(summary["ranks"].size(), 3U);
    EXPECT_EQ(summary["ranks"][2]["rank"], 2);
    EXPECT_EQ(summary["job"]["world_size"], 3);
    EXPECT_TRUE(summary["job"]["missing_ranks"].empty());
    EXPECT_TRUE(summary["job"]["notes"].empty()) << summary["job"]["notes"];
}

TEST(RecordRanks, AllTracesSurviveWhenOneRankIsKilled)
{
    const Folder folder;
    const auto script = folder.write("launch.sh", "export WORLD_SIZE=2\nRANK=0 " + kProgram + " ranges\nRANK=1 " +
                                                      kProgram + " slowly 100 &\nsleep 1\nkill -9 $!\nwait\n");
    EXPECT_EQ(recordJob(folder, "sh " + script.string()).status, 0);
    EXPECT_THAT(filesOf(folder / "job"), ElementsAre("job.json", "rank0.sstrace", "rank1.sstrace"));
    EXPECT_EQ(jobSummary(folder)["ranks"].size(), 2U);
}

TEST(RecordRanks, ACommandWithoutRanksHasOneTrace)
{
    const Folder folder;
    EXPECT_EQ(recordJob(folder, kProgram + " ranges").status, 0);
    EXPECT_THAT(filesOf(folder / "job"), ElementsAre("nvtx_program.sstrace"));
}

TEST(RecordRanks, ANamedTraceHoldsAllRanks)
{
    const Folder folder;
    const auto script = folder.write("launch.sh", "export WORLD_SIZE=2\nRANK=0 " + kProgram + " ranges\nRANK=1 " +
                                                      kProgram + " ranges\n");
    EXPECT_EQ(record(folder, "sh " + script.string()).status, 0);
    const auto recorded = trace(folder);
    EXPECT_EQ(names(*recorded, profiler::ActivityKind::Nvtx).size(), 8U);
    EXPECT_FALSE(recorded->metadata().contains("process.rank"));
    EXPECT_FALSE(recorded->metadata().contains("rank"));
}

} // namespace record_test
