#include "tests/record/remote_place.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

// A running recording in another place, seen from here.
namespace record_test {

namespace {

using testing::HasSubstr;
using testing::Not;

class RemoteWatch : public testing::Test {
protected:
    /// Records a program of so many steps of 20 ms in the background, waits for its first step, and runs `script`. The
    /// program ends early when the file `end` is there.
    [[nodiscard]] Ended during(int steps, const std::string& script) const
    {
        const auto program = m_place.folder().write(
            "train.py", "import os, time\nimport stepscope\nfor number in range(" + std::to_string(steps) +
                            "):\n    with stepscope.step():\n        time.sleep(0.02)\n    if os.path.exists('" +
                            (m_place.folder() / "end").string() + "'):\n        break\n");
        const std::string cli = STEPSCOPE_CLI;
        return shell(m_place.folder(), cli + " record --level always-on -o " + run() + " -- " + PYTHON + " " +
                                           program.string() + " > /dev/null 2>&1 & until " + cli + " watch --once " +
                                           run() + " > /dev/null 2>&1; do sleep 0.1; done\n" + script +
                                           "\nstatus=$?; touch '" + (m_place.folder() / "end").string() +
                                           "'; wait; exit $status");
    }
    [[nodiscard]] std::string run() const { return "'" + (m_place.folder() / "run").string() + "'"; }
    [[nodiscard]] std::string watch(const std::string& options, const std::string& link = {}) const
    {
        return std::string(STEPSCOPE_CLI) + " watch " + m_place.through(link) + " " + options + " " + run();
    }
    static std::vector<nlohmann::json> states(const std::string& lines)
    {
        std::vector<nlohmann::json> found;
        std::istringstream text(lines);
        for (std::string line; std::getline(text, line);)
            found.push_back(nlohmann::json::parse(line, nullptr, false));
        return found;
    }
    /// Processes of the uploaded program.
    [[nodiscard]] std::string left() const
    {
        return shell(m_place.folder(), "ps -eo args | grep -c '^" + (m_place.folder() / "home").string() + "' || true")
            .out;
    }

    Place m_place;
};

} // namespace

TEST_F(RemoteWatch, ShowsTheStatesUntilTheRecordingEnds)
{
    const Ended ended = during(200, watch("--json --interval 0.2"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto found = states(ended.out);
    ASSERT_GE(found.size(), 3U) << ended.out << ended.err;
    EXPECT_EQ(found.front()["ranks"][0]["state"], "alive");
    EXPECT_EQ(found.back()["ranks"][0]["state"], "ended");
    EXPECT_EQ(found.back()["ranks"][0]["steps"], 200);
    EXPECT_GE(found.back()["ranks"][0]["p50_us"].get<double>(), 20'000);
    // The same as here, but for the clock.
    auto near = states(shell(m_place.folder(), std::string(STEPSCOPE_CLI) + " watch --json " + run()).out).at(0);
    auto far = found.back();
    EXPECT_GT(near["now_ns"].get<std::int64_t>(), far["now_ns"].get<std::int64_t>());
    near["now_ns"] = far["now_ns"];
    EXPECT_EQ(far["ranks"][0]["steps"], near["ranks"][0]["steps"]);
    EXPECT_EQ(far["ranks"][0]["host"], near["ranks"][0]["host"]);
    for (const auto& [key, value] : near.items())
        EXPECT_TRUE(far.contains(key)) << key;
    EXPECT_EQ(left(), "0\n");
    EXPECT_THAT(m_place.jobs(), testing::IsEmpty());
}

TEST_F(RemoteWatch, OneLooksAreThoseOfTheProgramThere)
{
    const Ended table = during(200, watch("--once") + " && " + watch("--prometheus -") + " && " + watch("--history"));
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("data wait"));
    EXPECT_THAT(table.out, HasSubstr("stepscope_up{rank=\"0\""));
    const auto file = m_place.folder() / "stepscope.prom";
    EXPECT_EQ(shell(m_place.folder(), watch("--prometheus '" + file.string() + "'")).status, 0); // it has ended
    EXPECT_THAT(textOf(file), HasSubstr("stepscope_up{rank=\"0\""));
    EXPECT_EQ(shell(m_place.folder(), std::string(STEPSCOPE_CLI) + " watch " + m_place.through() + " /no/such").status,
              1);
}

TEST_F(RemoteWatch, AnInterruptLeavesNothingThere)
{
    const std::string out = "'" + (m_place.folder() / "out").string() + "'";
    const Ended ended = during(100'000, watch("--json --interval 0.1") + " > " + out + " & watcher=$!; until [ -s " +
                                            out + " ]; do sleep 0.05; done; kill -INT $watcher; wait $watcher");
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_EQ(left(), "0\n");
    EXPECT_THAT(m_place.jobs(), testing::IsEmpty());
}

TEST_F(RemoteWatch, AReaderThatGoesEndsIt)
{
    const Ended ended = during(100'000, watch("--json --interval 0.1") + " | head -n 2");
    EXPECT_EQ(states(ended.out).size(), 2U) << ended.err;
    EXPECT_EQ(left(), "0\n");
}

TEST_F(RemoteWatch, ALostConnectionIsRestored)
{
    const std::string cut = "'" + (m_place.folder() / "cut").string() + "'";
    m_place.install("link", "for last; do :; done\ncase $last in\n*' answer '*) [ -e " + cut + " ] || { : > " + cut +
                                "; timeout -s KILL 1 \"$@\"; exit 255; } ;;\nesac\nexec \"$@\"\n");
    const Ended ended = during(250, watch("--json --interval 0.1", (m_place.folder() / "bin/link").string()));
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("connecting again"));
    const auto found = states(ended.out);
    EXPECT_EQ(found.back()["ranks"][0]["state"], "ended");
    EXPECT_EQ(found.back()["ranks"][0]["steps"], 250);
    EXPECT_EQ(left(), "0\n");
}

TEST_F(RemoteWatch, OverARealSshdThatIsInterruptedTwice)
{
    const Sshd sshd;
    if (!sshd.runs())
        GTEST_SKIP() << "there is no sshd: install openssh-server, or set STEPSCOPE_SSHD to its path";
    const std::string out = (m_place.folder() / "out").string(), err = (m_place.folder() / "err").string();
    // The server's processes of the connection end, but not the server. Then the user ends the command.
    const Ended ended =
        during(100'000, sshd.program() + " watch --host box --json --interval 0.2 " + run() + " > '" + out + "' 2> '" +
                            err + "' & watcher=$!; until [ -s '" + out +
                            "' ]; do sleep 0.05; done; pkill -KILL -P $(cat '" + (sshd.folder() / "sshd.pid").string() +
                            "'); until grep -q 'connecting again' '" + err + "'; do sleep 0.05; done; : > '" + out +
                            "'; until [ -s '" + out + "' ]; do sleep 0.05; done; kill -INT $watcher; wait $watcher");
    EXPECT_EQ(ended.status, 130) << ended.err << textOf(err);
    EXPECT_EQ(shell(m_place.folder(), "for i in $(seq 50); do left=$(ps -eo args | grep -c '[w]atch --json.*" +
                                          (m_place.folder() / "run").string() +
                                          "'); [ $left = 0 ] && break; sleep 0.1; done; echo $left")
                  .out,
              "0\n");
}

TEST_F(RemoteWatch, APlaceThatWasNeverReachedIsAnError)
{
    const Ended ended = shell(m_place.folder(), std::string(STEPSCOPE_CLI) + " watch --through /no/such/command run");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, Not(HasSubstr("connecting again")));
    EXPECT_EQ(shell(m_place.folder(), std::string(STEPSCOPE_CLI) + " watch --host '' run").status, 2);
}

} // namespace record_test
