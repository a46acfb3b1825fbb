#include "tests/record/recorded_run.h"

#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/version.h"

#include <fstream>
#include <gmock/gmock.h>

namespace record_test {

using namespace profiler;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
const std::string kProgram = NVTX_PROGRAM;
}

TEST(Record, AProgramsRangesAreInOneTraceAndItsOutputIsItsOwn)
{
    const Folder folder;
    const Ended ended = record(folder, kProgram + " ranges");
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.out, "level 0\nlevel 1\nlevel 1\nlevel 0\n");
    EXPECT_THAT(ended.err, HasSubstr("1 process, 4 events"));
    EXPECT_THAT(ended.err, HasSubstr("the command exited with status 0"));
    EXPECT_THAT(folder.files(), ElementsAre("t.sstrace")) << "the parts are gone";
    const auto recorded = trace(folder);
    EXPECT_THAT(names(*recorded, ActivityKind::Nvtx), ElementsAre("outer", "inner", "wide ü", "here"));
    EXPECT_THAT(recorded->metadata().at("record.command"), HasSubstr("nvtx_program ranges"));
    EXPECT_FALSE(recorded->captureStats().live);
    EXPECT_EQ(recorded->metadata().at("capture.level"), "standard");
    EXPECT_EQ(recorded->metadata().at("stepscope.version"), profiler::version());
    EXPECT_TRUE(recorded->metadata().contains("sampler.cpu_share"));
    // At its start and at its end: such a short program may have exited before its memory is sampled.
    EXPECT_GE(std::stoi(recorded->metadata().at("sampler.samples")), 2);
}

TEST(Record, EveryProcessHasItsTracks)
{
    const Folder folder;
    EXPECT_EQ(record(folder, "sh -c '" + kProgram + " ranges > /dev/null; " + kProgram + " fork'").status, 0);
    const auto recorded = trace(folder);
    std::set<std::int64_t> processes;
    std::set<std::string> called;
    for (const Track& track : recorded->tracks()) {
        processes.insert(track.pid);
        called.insert(track.processName);
    }
    EXPECT_EQ(processes.size(), 4U) << "two programs, a child by fork, and who samples the machine";
    EXPECT_THAT(called, ElementsAre("machine", "nvtx_program fork", "nvtx_program ranges"));
    auto seen = names(*recorded, ActivityKind::Nvtx);
    EXPECT_THAT(seen, testing::UnorderedElementsAre("outer", "inner", "wide ü", "here", "parent", "child"));
}

TEST(Record, AProgramThatReplacesItselfKeepsBothParts)
{
    const Folder folder;
    const auto script = folder.write("run.sh", kProgram + " _exit\nexec " + kProgram + " ranges\n");
    EXPECT_EQ(record(folder, "sh " + script.string()).status, 0);
    EXPECT_THAT(names(*trace(folder), ActivityKind::Nvtx),
                testing::UnorderedElementsAre("before", "last", "outer", "inner", "wide ü", "here"));
}

TEST(Record, TheCommandsStatusIsPassedOnAndReported)
{
    const Folder folder;
    Ended ended = record(folder, kProgram + " _exit");
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.err, HasSubstr("the command exited with status 3"));
    EXPECT_THAT(ended.err, testing::Not(HasSubstr("did not end its trace"))) << "without a GPU, nothing is lost";
    ended = record(folder, kProgram + " crash");
    EXPECT_EQ(ended.status, 128 + 11);
    EXPECT_THAT(ended.err, HasSubstr("was killed by signal 11"));
    EXPECT_THAT(names(*trace(folder), ActivityKind::Nvtx), testing::Contains("before"));
}

TEST(Record, SignalsAreForwardedToTheCommandAndTheTraceIsWritten)
{
    const Folder folder;
    const auto script = folder.write("wait.sh", kProgram + " ranges > /dev/null\n"
                                                           "trap 'echo heard; exit 5' TERM\n"
                                                           "touch \"$1\"\n"
                                                           "while :; do sleep 0.05; done\n");
    const std::string ready = (folder / "ready").string();
    const Ended ended = shell(folder, std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "t.sstrace").string() +
                                          "' -- sh " + script.string() + " " + ready + " & while [ ! -e " + ready +
                                          " ]; do sleep 0.05; done; kill -TERM $!; wait $!");
    EXPECT_EQ(ended.status, 5);
    EXPECT_EQ(ended.out, "heard\n");
    EXPECT_EQ(names(*trace(folder), ActivityKind::Nvtx).size(), 4U);
}

TEST(Record, WithoutAnOutputTheTraceIsNamedAfterTheProgram)
{
    const Folder folder;
    folder.write("train.sh", kProgram + " ranges");
    const std::string line = "cd '" + (folder / "").string() + "' && " + STEPSCOPE_CLI + " record -- ";
    const Ended ended = shell(folder, line + kProgram + " ranges");
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, HasSubstr("record: nvtx_program.sstrace · "));
    EXPECT_THAT(shell(folder, line + kProgram + " ranges").err, HasSubstr("record: nvtx_program-2.sstrace · "));
    EXPECT_EQ(shell(folder, line + "sh train.sh -m pkg.fit").status, 0); // the script's own arguments
    EXPECT_THAT(folder.files(),
                ElementsAre("nvtx_program-2.sstrace", "nvtx_program.sstrace", "train.sh", "train.sstrace"));
}

TEST(Record, AFailedStartOrRecordingIsReportedInOneLine)
{
    const Folder folder;
    folder.write("text", "no program");
    struct Case {
        std::string line, says;
        int status;
    };
    const std::string cli = STEPSCOPE_CLI, out = (folder / "t.sstrace").string();
    const Case cases[] = {
        {cli + " record -o " + out + " -- no-such-command-here", "command not found", 1},
        {cli + " record -o " + out + " -- " + (folder / "text").string(), "the command is not executable", 1},
        {cli + " record -o " + (folder / "no/t").string() + " -- true", "the output folder does not exist", 1},
        {cli + " record -o " + out + " -- true", "nothing was recorded: the command", 1},
        {cli + " record -o " + out + " -- false", "nothing was recorded: the command", 1},
        {cli + " record -o " + out + " --no-python -- true", "--no-python excludes Python", 1},
        {cli + " record -o " + out + " -- sh -c 'exit 7'", "nothing was recorded", 7},
        {cli + " record -o " + out, "COMMAND", 2},
        {cli + " record -o " + out + " --env 4=2 -- true", "4 is not a valid variable name", 1},
        {cli + " record -o " + out + " --env A=1 --env A=2 -- true", "A is set twice", 1},
        {cli + " record -o " + out + " -- sh no-script.sh", "the script does not exist", 1},
        {cli + " record -o " + out + " --level most -- true", "most", 2},
    };
    for (const Case& test : cases) {
        const Ended ended = shell(folder, test.line);
        EXPECT_EQ(ended.status, test.status) << test.line;
        EXPECT_THAT(ended.err, HasSubstr(test.says)) << test.line;
        EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
        EXPECT_EQ(ended.out, "");
    }
    EXPECT_THAT(folder.files(), ElementsAre("text"));
}

TEST(Record, AWindowContainsOnlyWhatStartsInIt)
{
    const Folder folder;
    // Consecutive ranges of 0.1 s inside an outer one that begins before the window.
    const Ended ended = record(folder, kProgram + " slowly 20", "--after 0.55 --for 0.8");
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    const auto ranges = recorded->ofKind(ActivityKind::Nvtx);
    for (const Slice& range : ranges)
        EXPECT_EQ(recorded->name(range), "inner");
    EXPECT_GE(ranges.size(), 1U);
    EXPECT_LT(ranges.size(), 20U);
    EXPECT_EQ(recorded->captureStats().unmatched, 0U) << "the end of a range that began earlier is not an error";
    EXPECT_FALSE(recorded->captureStats().cut);
}

TEST(Record, AnUnwritablePartIsTheReportedCause)
{
    const Folder folder;
    // As on a full disk, no file can grow.
    const Ended ended =
        shell(folder, "(trap '' XFSZ; ulimit -f 0; " + std::string(STEPSCOPE_CLI) + " record -o '" +
                          (folder / "t.sstrace").string() + "' -- " + kProgram + " ranges > /dev/null) 2>&1 | cat >&2");
    EXPECT_THAT(ended.err, HasSubstr("nothing was recorded, because no part of the trace could be written"));
    EXPECT_THAT(ended.err, testing::Not(HasSubstr("used neither")));
}

TEST(Record, AWindowThatNeverStartedIsReported)
{
    const Folder folder;
    const Ended ended = record(folder, kProgram + " ranges", "--after 60");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("nothing was recorded after 60 s"));
    EXPECT_TRUE(folder.files().empty());
}

TEST(Record, AChildByForkHasTheSameWindow)
{
    const Folder folder;
    EXPECT_EQ(record(folder, "sh -c '" + kProgram + " slowly 3; " + kProgram + " fork'", "--after 0.2").status, 0);
    const auto seen = names(*trace(folder), ActivityKind::Nvtx);
    EXPECT_THAT(seen, testing::IsSupersetOf({"parent", "child"}));
}

TEST(Record, AReportReplacesTheLine)
{
    const Folder folder;
    const auto report = [&](const std::string& command) {
        const Ended ended = record(folder, command, "--report '" + (folder / "report").string() + "'");
        EXPECT_EQ(ended.err, "");
        std::ifstream file(folder / "report");
        return nlohmann::json::parse(file, nullptr, false);
    };
    nlohmann::json said = report(kProgram + " crash");
    EXPECT_EQ(said["signal"], 11);
    EXPECT_GT(said["events"], 0);
    EXPECT_FALSE(said.contains("error"));
    said = report("no-such-command-here");
    EXPECT_EQ(said["error"]["id"], "launch.command.not_found");
    EXPECT_FALSE(said.contains("exit_status"));
    said = report("sh -c 'exit 7'");
    EXPECT_EQ(said["exit_status"], 7);
    EXPECT_TRUE(said.contains("error"));
}

TEST(Record, PartsOfAnEarlierRecordingStayUnchanged)
{
    const Folder folder;
    const std::string injected =
        "STEPSCOPE_RECORD=" + (folder / "t.sstrace").string() + " NVTX_INJECTION64_PATH=" +
        (std::filesystem::path(STEPSCOPE_CLI).parent_path() / "../lib/libstepscope_inject.so").string() + " " +
        kProgram + " attributes";
    EXPECT_EQ(shell(folder, injected).status, 0);
    const auto before = folder.files();
    ASSERT_EQ(before.size(), 1U);
    EXPECT_EQ(record(folder, kProgram + " ranges").status, 0);
    EXPECT_THAT(folder.files(), testing::IsSupersetOf(before));
    EXPECT_EQ(names(*trace(folder), ActivityKind::Nvtx).size(), 4U);
}

TEST(Record, VariablesAreAddedToTheCommandsEnvironment)
{
    const Folder folder;
    const Ended ended = record(folder, "sh -c 'echo $FIRST/$SECOND/$HOME; " + kProgram + " ranges > /dev/null'",
                               "--env FIRST=one --env 'SECOND=a b=c'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, testing::StartsWith("one/a b=c/"));
    // PATH determines where the command is found.
    const auto program = std::filesystem::path(kProgram);
    EXPECT_EQ(record(folder, program.filename().string() + " ranges",
                     "--env PATH=" + program.parent_path().string() + ":$PATH")
                  .status,
              0);
}

/// The message about the end of the recording in `summarize --json`; null if there is none.
nlohmann::json endOf(const Folder& folder)
{
    const nlohmann::json loss = summary(folder)["data_loss"];
    for (const auto& message : loss["note_messages"])
        if (message["id"].get<std::string>().starts_with("record.ended.")) {
            EXPECT_THAT(loss["notes"], testing::Contains(message["text"])) << "every reader shows it";
            return message;
        }
    return nullptr;
}

TEST(Record, ASignalToTheRecorderIsNamedInTheTrace)
{
    for (const std::string name : {"TERM", "INT"}) {
        const Folder folder;
        // The program signals its recorder, which passes the signal on.
        const auto script =
            folder.write("run.sh", kProgram + " ranges > /dev/null\nkill -" + name + " $PPID\nexec sleep 30\n");
        const Ended ended = record(folder, "sh " + script.string());
        EXPECT_EQ(ended.status, 128 + (name == "TERM" ? 15 : 2)) << ended.err;
        const nlohmann::json said = endOf(folder);
        ASSERT_FALSE(said.is_null()) << name;
        EXPECT_EQ(said["id"], "record.ended.recorder_signal_from");
        EXPECT_EQ(said["parameters"]["signal"], "SIG" + name);
        EXPECT_THAT(said["parameters"]["sender"].get<std::string>(), testing::MatchesRegex(".+ \\([0-9]+\\)"));
        EXPECT_EQ(names(*trace(folder), ActivityKind::Nvtx).size(), 4U);
    }
}

TEST(Record, ASignalThatKillsTheProgramIsNamedInTheTrace)
{
    for (const std::string name : {"TERM", "INT"}) {
        const Folder folder;
        const auto script = folder.write("run.sh", kProgram + " ranges > /dev/null\nkill -" + name + " $$\n");
        EXPECT_EQ(record(folder, "sh " + script.string()).status, 128 + (name == "TERM" ? 15 : 2));
        const nlohmann::json said = endOf(folder);
        ASSERT_FALSE(said.is_null()) << name;
        EXPECT_EQ(said["id"], "record.ended.program_killed");
        EXPECT_EQ(said["parameters"]["signal"], "SIG" + name);
    }
    const Folder folder;
    EXPECT_EQ(record(folder, kProgram + " ranges").status, 0);
    EXPECT_TRUE(endOf(folder).is_null()) << "a program that exits normally needs no note";
    const auto script = folder.write("run.sh", kProgram + " ranges > /dev/null\nsh -c 'kill -TERM $$'\nexit $?\n");
    EXPECT_EQ(record(folder, "sh " + script.string()).status, 143);
    EXPECT_EQ(endOf(folder)["id"], "record.ended.program_status");
}

// The program may have exited before the recorder handles its own signal, which must not cost the trace.
TEST(Record, ASignalToTheWholeGroupLeavesATraceThatNamesIt)
{
    for (int round = 0; round < 5; ++round) {
        const Folder folder;
        const auto script = folder.write("run.sh", kProgram + " ranges > /dev/null\nkill -TERM 0\nexec sleep 30\n");
        const Ended ended = shell(folder, "setsid -w " + std::string(STEPSCOPE_CLI) + " record -o '" +
                                              (folder / "t.sstrace").string() + "' -- sh " + script.string());
        EXPECT_EQ(ended.status, 143) << ended.err;
        const nlohmann::json said = endOf(folder);
        ASSERT_FALSE(said.is_null());
        EXPECT_EQ(said["id"], "record.ended.recorder_signal_from");
    }
}

TEST(Record, TwoRecordingsInOneFolderAtTheSameTimeStayApart)
{
    const Folder folder;
    const std::string cli = std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "").string();
    const Ended both = shell(folder, cli + "a.sstrace' -- " + kProgram + " slowly 5 > /dev/null & " + cli +
                                         "b.sstrace' -- " + kProgram + " ranges > /dev/null; wait $!");
    EXPECT_EQ(both.status, 0) << both.err;
    EXPECT_THAT(folder.files(), ElementsAre("a.sstrace", "b.sstrace"));
    const auto slices = [&](const char* name) {
        const auto read = profiler::container::readTrace(folder / name);
        EXPECT_TRUE(read);
        return read ? names(**read, ActivityKind::Nvtx) : std::vector<std::string>{};
    };
    EXPECT_THAT(slices("a.sstrace"), testing::Each(testing::AnyOf("outer", "inner")));
    EXPECT_THAT(slices("b.sstrace"), ElementsAre("outer", "inner", "wide ü", "here"));
}

TEST(Record, OfTwoRecordingsOfOneTraceTheSecondIsRefused)
{
    const Folder folder;
    const std::string cli = std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "t.sstrace").string() + "' -- ";
    const std::string ready = (folder / "ready").string();
    const Ended second = shell(
        folder, cli + "sh -c '" + kProgram + " ranges; touch " + ready + "; sleep 1' > /dev/null & while [ ! -e " +
                    ready + " ]; do sleep 0.05; done; " + cli + kProgram + " fork; echo status $?; wait $!");
    EXPECT_THAT(second.out, HasSubstr("status 1\n"));
    EXPECT_THAT(second.err, HasSubstr("another recording is writing this trace"));
    EXPECT_THAT(names(*trace(folder), ActivityKind::Nvtx), ElementsAre("outer", "inner", "wide ü", "here"))
        << "the first value is unchanged";
    EXPECT_THAT(folder.files(), ElementsAre("ready", "t.sstrace"));
}

TEST(Record, JsonSaysTheSameOnTheErrorStream)
{
    const Folder folder;
    const Ended ended = record(folder, kProgram + " ranges", "--json");
    const auto said = nlohmann::json::parse(ended.err, nullptr, false);
    EXPECT_EQ(said["schema"], 1);
    EXPECT_EQ(said["events"], 4);
    EXPECT_EQ(said["exit_status"], 0);
}

} // namespace record_test
