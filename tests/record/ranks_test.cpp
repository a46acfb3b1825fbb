#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>

// The ranks of a job get one trace each, in one folder.
namespace record_test {

using testing::ElementsAre;

namespace {

const std::string kProgram = NVTX_PROGRAM;

/// `stepscope-cli record -o FOLDER/job/ OPTIONS -- COMMAND`
Ended recordJob(const Folder& folder, const std::string& command, const std::string& options = {})
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "job").string() + "/' " + options +
                             " -- " + command);
}

nlohmann::json jsonOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return nlohmann::json::parse(file, nullptr, false);
}

/// A command that starts ranks, which run the program with these arguments at the same time.
std::string ranks(const Folder& folder, int count, const std::string& arguments)
{
    return "sh " + folder
                       .write("launch.sh", "export WORLD_SIZE=" + std::to_string(count) + "\nfor RANK in $(seq 0 " +
                                               std::to_string(count - 1) + "); do export RANK; " + kProgram + " " +
                                               arguments + " & done\nwait\n")
                       .string();
}

std::vector<std::string> idsOf(const nlohmann::json& messages)
{
    std::vector<std::string> ids;
    for (const auto& message : messages)
        ids.push_back(message["id"].get<std::string>());
    return ids;
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

TEST(RecordRanks, ANamedTraceContainsAllRanks)
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

TEST(RecordRanks, OnlyTheChosenRanksAreRecorded)
{
    const Folder folder;
    const auto report = folder / "report.json";
    const Ended ended = recordJob(folder, ranks(folder, 4, "ranges"), "--ranks 0,3 --report '" + report.string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(filesOf(folder / "job"), ElementsAre("job.json", "rank0.sstrace", "rank3.sstrace"));
    const auto manifest = jsonOf(folder / "job" / "job.json");
    EXPECT_EQ(manifest["world_size"], 4);
    EXPECT_EQ(manifest["unrecorded_ranks"], "1-2");
    ASSERT_EQ(manifest["ranks"].size(), 2U);
    EXPECT_EQ(manifest["ranks"][1]["rank"], 3);
    EXPECT_THAT(idsOf(jsonOf(report)["note_messages"]), ElementsAre("record.ranks.unrecorded"));
    const auto summary = jobSummary(folder);
    EXPECT_EQ(summary["ranks"].size(), 2U);
    EXPECT_EQ(summary["job"]["world_size"], 4);
    EXPECT_EQ(summary["job"]["missing_ranks"], nlohmann::json::array({1, 2}));
    EXPECT_THAT(idsOf(summary["job"]["notes"]), ElementsAre("job.ranks_chosen"));
}

TEST(RecordRanks, OneChosenRankIsAJob)
{
    const Folder folder;
    EXPECT_EQ(recordJob(folder, ranks(folder, 3, "ranges"), "--ranks 1").status, 0);
    EXPECT_THAT(filesOf(folder / "job"), ElementsAre("job.json", "rank1.sstrace"));
    EXPECT_EQ(jsonOf(folder / "job" / "job.json")["unrecorded_ranks"], "0,2");
}

TEST(RecordRanks, RanksThatTheJobDoesNotHaveAreReported)
{
    const Folder folder;
    const auto report = folder / "report.json";
    const std::string options = " --report '" + report.string() + "'";
    EXPECT_EQ(recordJob(folder, ranks(folder, 2, "ranges"), "--ranks 1,5-7" + options).status, 0);
    const auto notes = jsonOf(report)["note_messages"];
    EXPECT_THAT(idsOf(notes), ElementsAre("record.ranks.beyond", "record.ranks.unrecorded"));
    EXPECT_EQ(notes[0]["parameters"]["rank"], 7);
    EXPECT_EQ(notes[0]["parameters"]["ranks"], 2);
    const Folder other;
    EXPECT_EQ(recordJob(other, ranks(other, 2, "ranges"), "--ranks 5" + options).status, 1);
    EXPECT_EQ(jsonOf(report)["error"]["id"], "record.ranks.none");
    EXPECT_TRUE(filesOf(other / "job").empty());
    EXPECT_EQ(recordJob(other, kProgram + " ranges", "--ranks 0" + options).status, 0);
    EXPECT_THAT(idsOf(jsonOf(report)["note_messages"]), ElementsAre("record.ranks.no_job"));
}

TEST(RecordRanks, MistypedLimitsAreWrongUsage)
{
    const Folder folder;
    for (const char* options :
         {"--ranks 7-3", "--ranks ''", "--ranks a", "--steps 9-3", "--steps x", "--max-size 5parsec", "--max-size 1KB",
          "--steps 3-9 --after 1", "--steps 3-9 --no-python"}) {
        const Ended ended = recordJob(folder, kProgram + " ranges", options);
        EXPECT_EQ(ended.status, 2) << options << ended.err;
        EXPECT_FALSE(std::filesystem::exists(folder / "job")) << options;
    }
}

TEST(RecordRanks, ARankThatReachesTheLimitContinuesUnrecorded)
{
    const Folder folder;
    const auto report = folder / "report.json";
    constexpr int kRounds = 2000;
    const Ended ended = recordJob(folder, ranks(folder, 2, "steadily " + std::to_string(kRounds)),
                                  "--max-size 1MB --report '" + report.string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "all rounds are done\nall rounds are done\n");
    const auto manifest = jsonOf(folder / "job" / "job.json");
    EXPECT_EQ(manifest["max_bytes"], 1'000'000);
    EXPECT_THAT(idsOf(jsonOf(report)["note_messages"]), testing::Contains("record.full.rank").Times(2));
    ASSERT_EQ(manifest["ranks"].size(), 2U);
    for (const auto& rank : manifest["ranks"]) {
        EXPECT_GT(rank["events"], 10'000) << "until then, everything is recorded";
        EXPECT_LT(rank["events"], kRounds * 300);
    }
    const Ended one = shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json '" +
                                        (folder / "job/rank1.sstrace").string() + "'");
    EXPECT_THAT(idsOf(nlohmann::json::parse(one.out)["data_loss"]["note_messages"]),
                testing::Contains("recorder.full"));
}

} // namespace record_test
