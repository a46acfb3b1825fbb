#include "tests/record/remote_place.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// Recording in another place: through a command that runs another one with its own environment and home folder, and
// over a real sshd on the loopback interface where there is one.
namespace record_test {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// Writes NVTX ranges, and what it prints is of no interest here.
const std::string kRanges = std::string(NVTX_PROGRAM) + " ranges";
const std::string kQuietRanges = kRanges + " > /dev/null";

/// Processes whose environment names a job in this home.
int processesOf(const Place& place)
{
    const Ended ended = shell(place.folder(), "grep -lzs 'STEPSCOPE_REMOTE_JOB=" + (place.folder() / "home").string() +
                                                  "' /proc/[0-9]*/environ | wc -l");
    return std::atoi(ended.out.c_str());
}

} // namespace

TEST(RecordElsewhere, TheTraceAndTheOutputComeHere)
{
    const Place place;
    const auto script =
        place.folder().write("both.sh", "echo to stdout; echo to stderr >&2; " + kQuietRanges + "; exit 3\n");
    const Ended ended = place.record("sh " + script.string());
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_EQ(ended.out, "to stdout\n");
    EXPECT_THAT(ended.err, HasSubstr("to stderr\n"));
    EXPECT_THAT(ended.err, HasSubstr("uploading"));
    EXPECT_FALSE(names(*trace(place.folder()), profiler::ActivityKind::Nvtx).empty());
    EXPECT_EQ(trace(place.folder())->metadata().find("record.exit_status")->second, "3");
    EXPECT_THAT(place.jobs(), IsEmpty());
    EXPECT_EQ(processesOf(place), 0);
    // The recording part is there now.
    EXPECT_THAT(place.record(kRanges).err, Not(HasSubstr("uploading")));
}

TEST(RecordElsewhere, TheUploadedPartUsesItsOwnLibraries)
{
    const Place place;
    ASSERT_EQ(place.record(kRanges).status, 0);
    const Ended ended = shell(place.folder(), "ldd '" + (place.folder() / "home").string() +
                                                  "'/.cache/stepscope/remote/*/bin/stepscope-cli");
    EXPECT_THAT(ended.out, Not(HasSubstr("Qt")));
    EXPECT_THAT(ended.out, HasSubstr("/bundled/libfmt"));
}

TEST(RecordElsewhere, RanksComeAsAFolder)
{
    const Place place;
    const auto script = place.folder().write("launch.sh", "export WORLD_SIZE=2\nfor RANK in 0 1; do export RANK; " +
                                                              kRanges + " & done\nwait\n");
    const Ended ended =
        shell(place.folder(), std::string(STEPSCOPE_CLI) + " record -o '" + (place.folder() / "job").string() + "/' " +
                                  place.through() + " -- sh " + script.string());
    ASSERT_EQ(ended.status, 0) << ended.err;
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(place.folder() / "job"))
        files.insert(entry.path().filename().string());
    EXPECT_THAT(files, ElementsAre("job.json", "rank0.sstrace", "rank1.sstrace"));
}

TEST(RecordElsewhere, TheFolderAndTheEnvironmentAreThoseThatWereNamed)
{
    const Place place;
    std::filesystem::create_directory(place.folder() / "home/work");
    const Ended ended =
        place.record("sh -c 'pwd; echo $COLOR; " + kRanges + "'",
                     "--env COLOR=blue --host-folder '" + (place.folder() / "home/work").string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("/home/work\nblue\n"));
}

TEST(RecordElsewhere, AnInterruptStopsTheCommandAndLeavesNothingRunning)
{
    const Place place;
    // A child that ignores everything, and a daemon in its own session.
    const auto script = place.folder().write(
        "train.sh", kRanges + "\n(trap '' INT TERM; setsid sleep 300 &) \necho trains\nsleep 300\n");
    const pid_t child = fork();
    if (child == 0) {
        const std::string line =
            "exec " + place.recordLine("sh " + script.string()) + " > '" + (place.folder() / "out").string() + "' 2>&1";
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    for (int i = 0; i < 600 && textOf(place.folder() / "out").find("trains") == std::string::npos; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 130) << textOf(place.folder() / "out");
    EXPECT_FALSE(names(*trace(place.folder()), profiler::ActivityKind::Nvtx).empty());
    EXPECT_EQ(processesOf(place), 0);
    EXPECT_THAT(place.jobs(), IsEmpty());
}

TEST(RecordElsewhere, ALostConnectionDoesNotStopTheCommand)
{
    const Place place;
    // Cuts the first connection that follows the command, while it runs.
    const auto cut = (place.folder() / "cut").string();
    place.install("link", "for last; do :; done\ncase $last in\n*'--action follow '*)\n    if [ ! -e '" + cut +
                              "' ]; then : > '" + cut +
                              "'; timeout -s KILL 1.5 \"$@\"; exit 255; fi ;;\nesac\nexec \"$@\"\n");
    const auto script = place.folder().write(
        "train.sh", "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.5; done; " + kQuietRanges + "\n");
    const Ended ended = place.record("sh " + script.string(), {}, (place.folder() / "bin/link").string());
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_TRUE(std::filesystem::exists(cut));
    EXPECT_THAT(ended.err, HasSubstr("connecting again"));
    EXPECT_EQ(ended.out, "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n");
    EXPECT_FALSE(names(*trace(place.folder()), profiler::ActivityKind::Nvtx).empty());
}

TEST(RecordElsewhere, WhatIsMissingThereIsNamed)
{
    const Place place;
    EXPECT_EQ(place.error("no-such-command"), "remote.no_command");
    EXPECT_EQ(place.error("python4.7 train.py"), "remote.no_python");
    EXPECT_EQ(place.error(kRanges, "--host-folder /no/such/folder"), "remote.folder");
    place.install("df", "echo Filesystem 1024-blocks Used Available; echo disk 100 90 10");
    EXPECT_EQ(place.error(kRanges), "remote.no_space");
    place.install("uname", "[ \"$1\" = -m ] && echo riscv64 || echo Linux");
    EXPECT_EQ(place.error(kRanges), "remote.architecture");
    EXPECT_EQ(place.error("true", {}, "/no/such/link"), "remote.no_client");
    place.install("refuses", "echo 'refused: you may not' >&2; exit 255");
    EXPECT_EQ(place.error("true", {}, (place.folder() / "bin/refuses").string()), "remote.unreachable");
    EXPECT_THAT(place.jobs(), IsEmpty());
}

TEST(RecordElsewhere, HostsThatSshDoesNotKnowAreErrors)
{
    const Folder folder;
    const Ended unknown = shell(folder, std::string(STEPSCOPE_CLI) + " record --host no-such-host.invalid -- true");
    EXPECT_EQ(unknown.status, 1);
    EXPECT_THAT(unknown.err, AnyOf(HasSubstr("cannot be reached"), HasSubstr("openssh-client")));
    const Ended option = shell(folder, std::string(STEPSCOPE_CLI) + " record '--host=-oProxyCommand=true' -- true");
    EXPECT_EQ(option.status, 2);
    std::filesystem::create_directory(folder / "empty");
    const Ended missing = shell(folder, "PATH='" + (folder / "empty").string() + "' " + STEPSCOPE_CLI +
                                            " record --host localhost -- true");
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr("openssh-client"));
}

TEST(RecordElsewhere, FilesOutsideOfTheFolderAreRefused)
{
    const Place place;
    // Answers the request for files itself: F, a length of four bytes, and a size with a name.
    for (const std::string& name : {std::string("trace/../../../evil.sstrace"), std::string("/tmp/evil.sstrace")}) {
        const std::string payload = "4 " + name;
        char length[8];
        std::snprintf(length, sizeof length, "%03o", static_cast<unsigned>(payload.size()));
        place.install("evil",
                      "for last; do :; done\ncase $last in\n*'--action files '*) printf '\\n@stepscope-remote 1\\nF\\" +
                          std::string(length) + "\\000\\000\\000" + payload +
                          "D\\004\\000\\000\\000evilZ\\000\\000\\000\\000'; exit ;;\nesac\nexec \"$@\"\n");
        EXPECT_EQ(place.error(kRanges, {}, (place.folder() / "bin/evil").string()), "remote.files") << name;
    }
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "t.sstrace"));
    for (const std::string& file : place.folder().files())
        EXPECT_THAT(file, Not(HasSubstr("fetch")));
    EXPECT_FALSE(std::filesystem::exists("/tmp/evil.sstrace"));
}

TEST(RecordOverSsh, ARealSshdOnTheLoopbackInterface)
{
    const Sshd sshd;
    if (!sshd.runs())
        GTEST_SKIP() << "there is no sshd: install openssh-server, or set STEPSCOPE_SSHD to its path";
    const Ended ended = shell(sshd.folder(), sshd.line("sh -c 'echo \"over ssh\"; " + kQuietRanges + "; exit 4'"));
    EXPECT_EQ(ended.status, 4) << ended.err << textOf(sshd.folder() / "sshd.log");
    EXPECT_EQ(ended.out, "over ssh\n");
    EXPECT_FALSE(names(*trace(sshd.folder()), profiler::ActivityKind::Nvtx).empty());
    // The shared connection has ended, which it would do by itself after a minute. Those of tests that run at the same
    // time end earlier.
    EXPECT_EQ(shell(sshd.folder(), "for i in $(seq 30); do left=$(ps -eo args | grep -c '[s]tepscope-ssh-'); "
                                   "[ $left = 0 ] && break; sleep 1; done; echo $left")
                  .out,
              "0\n");
}

TEST(RecordOverSsh, TheConnectionMayBreak)
{
    const Sshd sshd;
    if (!sshd.runs())
        GTEST_SKIP() << "there is no sshd: install openssh-server, or set STEPSCOPE_SSHD to its path";
    const auto script = sshd.folder().write("train.sh", "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.5; done; " +
                                                            kQuietRanges + "\n");
    // Ends the server's processes of the connection, and not the server.
    const Ended ended =
        shell(sshd.folder(), "(until grep -q 'line 2' '" + (sshd.folder() / "out").string() +
                                 "'; do sleep 0.1; done; pkill -KILL -P $(cat '" +
                                 (sshd.folder() / "sshd.pid").string() + "')) & " + sshd.line("sh " + script.string()) +
                                 " > '" + (sshd.folder() / "out").string() + "'; status=$?; wait; exit $status");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("connecting again"));
    EXPECT_EQ(textOf(sshd.folder() / "out"), "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n");
    EXPECT_FALSE(names(*trace(sshd.folder()), profiler::ActivityKind::Nvtx).empty());
}

} // namespace record_test
