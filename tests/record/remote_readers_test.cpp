#include "advisor/runner/remote_frames.h"
#include "tests/record/remote_place.h"

#include <csignal>
#include <gmock/gmock.h>
#include <sys/wait.h>

// Commands that read traces in another place: their answers are those of the same command here.
namespace record_test {

namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTrace = std::string(SAMPLES) + "/loader_stall.sstrace";
const std::string kOther = std::string(SAMPLES) + "/launch_bound.sstrace";

Ended there(const Place& place, const std::string& words, const std::string& link = {})
{
    const std::size_t blank = words.find(' ');
    return shell(place.folder(), std::string(STEPSCOPE_CLI) + " " + words.substr(0, blank) + " " + place.through(link) +
                                     words.substr(blank));
}
Ended here(const Place& place, const std::string& words)
{
    return shell(place.folder(), std::string(STEPSCOPE_CLI) + " " + words);
}

/// Processes of answers in this home.
std::string answering(const Place& place)
{
    return shell(place.folder(), "ps -eo args | grep -c '^" + (place.folder() / "home").string() + "' || true").out;
}

} // namespace

TEST(RemoteReaders, AnswerAsTheSameCommandHere)
{
    const Place place;
    EXPECT_THAT(there(place, "summarize " + kTrace).err, HasSubstr("uploading"));
    for (const std::string& words :
         {"summarize " + kTrace, "summarize --json --detailed " + kTrace, "advise --json " + kTrace,
          "lines --json " + kTrace, "calls --by operator --device " + kTrace, "diff --json " + kTrace + " " + kOther,
          "query --csv --limit=3 " + kTrace + " \"SELECT name, 'ä\\\"' FROM slice ORDER BY ts\"",
          std::string("query --tables"), "advise --steps-from=none -- " + kTrace}) {
        const Ended near = here(place, words), far = there(place, words);
        EXPECT_EQ(far.out, near.out) << words;
        EXPECT_EQ(far.err, near.err) << words;
        EXPECT_EQ(far.status, near.status) << words;
        EXPECT_EQ(far.out.empty(), far.status != 0) << words; // the sample has no source lines
    }
    EXPECT_THAT(place.jobs(), testing::IsEmpty());
}

TEST(RemoteReaders, ErrorsAndStatusesArePassedOn)
{
    const Place place;
    for (const std::string& words : {std::string("summarize /no/such/file.sstrace"), "query " + kTrace + " 'SELEC 1'",
                                     "diff --fail-if-slower 0 " + kTrace + " " + kOther}) {
        const Ended near = here(place, words), far = there(place, words);
        EXPECT_NE(near.status, 0) << words;
        EXPECT_EQ(far.status, near.status) << words << far.err;
        EXPECT_THAT(far.err, HasSubstr(near.err)) << words;
    }
}

TEST(RemoteReaders, TheSqlMayComeFromStandardInput)
{
    const Place place;
    const Ended ended = shell(place.folder(), "echo 'SELECT 40 + 2' | " + std::string(STEPSCOPE_CLI) + " query --csv " +
                                                  place.through() + " " + kTrace + " -");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("42"));
}

TEST(RemoteReaders, FilesThatAreWrittenComeHere)
{
    const Place place;
    const auto html = place.folder() / "my report.html", json = place.folder() / "t.v2.json.gz";
    const Ended report = there(place, "report " + kTrace + " -o '" + html.string() + "'");
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_EQ(report.out, "Report: " + html.string() + "\n");
    EXPECT_THAT(textOf(html), HasSubstr("</html>"));
    const Ended convert = there(place, "convert " + kTrace + " '" + json.string() + "'");
    EXPECT_EQ(convert.status, 0) << convert.err;
    EXPECT_THAT(convert.out, HasSubstr(json.string() + "\n"));
    const Ended summary = here(place, "summarize " + json.string());
    EXPECT_EQ(summary.status, 0) << summary.err;
    const auto junit = place.folder() / "junit.xml";
    const Ended diff =
        there(place, "diff --fail-if-slower 0 --junit '" + junit.string() + "' " + kTrace + " " + kOther);
    EXPECT_EQ(diff.status, 3) << diff.err;
    EXPECT_THAT(textOf(junit), HasSubstr("<testsuite"));
    EXPECT_THAT(place.jobs(), testing::IsEmpty());
    const Ended nowhere = there(place, "report " + kTrace + " -o /no/such/folder/r.html");
    EXPECT_EQ(nowhere.status, 1);
    EXPECT_THAT(nowhere.err, HasSubstr("/no/such/folder"));
}

TEST(RemoteReaders, PathsAreRelativeToTheFolderThere)
{
    const Place place;
    std::filesystem::create_directory(place.folder() / "home/runs");
    std::filesystem::copy_file(kTrace, place.folder() / "home/runs/a.sstrace");
    const Ended ended =
        there(place, "summarize a.sstrace --host-folder '" + (place.folder() / "home/runs").string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(there(place, "summarize a.sstrace --host-folder /no/such/folder").status, 1);
}

TEST(RemoteReaders, StatesOfAWatchedRecordingAreNotTrusted)
{
    using advisor::runner::encodeFrame;
    using advisor::runner::RemoteFrame;
    const Place place;
    // The link answers in the place of `watch`, and waits.
    place.install("link", "for last; do :; done\ncase $last in\n*' answer '*) cat '" +
                              (place.folder() / "answer").string() + "'; exec cat ;;\nesac\nexec \"$@\"\n");
    const auto watch = [&](const std::string& frames) {
        place.folder().write("answer", std::string(advisor::runner::kRemoteBegin) + frames);
        return there(place, "watch --json run", (place.folder() / "bin/link").string());
    };
    for (const std::string& line : {std::string("no JSON"), std::string("[]"), std::string(R"({"ranks": 3})"),
                                    std::string(R"({"ranks": [1]})"), std::string(20'000'000, ' ')}) {
        std::string frames;
        for (std::size_t at = 0; at < line.size(); at += 1 << 19)
            frames += encodeFrame(RemoteFrame::Output, line.substr(at, 1 << 19));
        const Ended ended = watch(frames + encodeFrame(RemoteFrame::Output, "\n"));
        EXPECT_EQ(ended.status, 1) << line.substr(0, 40);
        EXPECT_EQ(ended.out, "") << line.substr(0, 40);
    }
    const Ended one =
        watch(encodeFrame(RemoteFrame::Output,
                          R"({"ranks": [{"rank": 1, "host": "a\u001b[2J\nb", "state": "new", "steps": -7, )"
                          R"("p50_us": "x", "last_us": -1, "parts": [], "late_us": "x"}], "captures": 4})"
                          "\n") +
              encodeFrame(RemoteFrame::Ended, "0"));
    EXPECT_EQ(one.status, 0) << one.err;
    const auto state = nlohmann::json::parse(one.out, nullptr, false);
    ASSERT_TRUE(state.is_object()) << one.out;
    EXPECT_EQ(state["ranks"][0]["host"], "a?[2J?b");
    EXPECT_EQ(state["ranks"][0]["state"], "unknown");
    EXPECT_EQ(state["ranks"][0]["steps"], 0);
    EXPECT_EQ(state["ranks"][0]["last_us"], 0);
    EXPECT_TRUE(state["captures"].empty());
}

TEST(RemoteReaders, WrongPlacesAreWrongUsage)
{
    const Folder folder;
    const std::string cli = STEPSCOPE_CLI;
    for (const std::string& place :
         {std::string("--host ''"), std::string("--through ''"), std::string("--host=-oProxyCommand=true"),
          std::string("--host a --through b"), std::string("--host-folder x")})
        EXPECT_EQ(shell(folder, cli + " summarize t.sstrace " + place).status, 2) << place;
    const Ended unknown = shell(folder, cli + " summarize t.sstrace --host no-such-host.invalid");
    EXPECT_EQ(unknown.status, 1);
    EXPECT_THAT(unknown.err, testing::AnyOf(HasSubstr("cannot be reached"), HasSubstr("openssh-client")));
}

TEST(RemoteReaders, AnInterruptEndsTheCommandThere)
{
    const Place place;
    ASSERT_EQ(there(place, "summarize " + kTrace).status, 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::string line = "exec " + std::string(STEPSCOPE_CLI) + " query " + place.through() + " " + kTrace +
                                 " 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT MAX(x) FROM "
                                 "c' --timeout 300 > '" +
                                 (place.folder() / "out").string() + "' 2>&1";
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    for (int i = 0; i < 300 && answering(place) != "2\n"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(answering(place), "2\n"); // the one that answers, and the query
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 130) << textOf(place.folder() / "out");
    for (int i = 0; i < 200 && answering(place) != "0\n"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(answering(place), "0\n");
    EXPECT_THAT(place.jobs(), testing::IsEmpty());
}

TEST(RemoteReaders, AHostThatDisappearsIsAnError)
{
    const Place place;
    ASSERT_EQ(there(place, "summarize " + kTrace).status, 0);
    place.install("cuts", "for last; do :; done\ncase $last in\n*'--action answer '* | *' answer '*) timeout -s KILL "
                          "0.2 \"$@\"; exit 255 ;;\nesac\nexec \"$@\"\n");
    const Ended ended = there(place,
                              "query " + kTrace +
                                  " 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT MAX(x) "
                                  "FROM c' --timeout 20",
                              (place.folder() / "bin/cuts").string());
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, testing::AnyOf(HasSubstr("was lost"), HasSubstr("cannot be reached")));
}

TEST(RemoteReadersOverSsh, ARealSshd)
{
    const Sshd sshd;
    if (!sshd.runs())
        GTEST_SKIP() << "there is no sshd: install openssh-server, or set STEPSCOPE_SSHD to its path";
    const Ended near = shell(sshd.folder(), std::string(STEPSCOPE_CLI) + " advise --json " + kTrace);
    const Ended far = shell(sshd.folder(), sshd.program() + " advise --json --host box " + kTrace);
    EXPECT_EQ(far.out, near.out) << far.err;
    EXPECT_EQ(far.status, near.status);
}

} // namespace record_test
