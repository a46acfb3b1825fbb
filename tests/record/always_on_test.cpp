#include "profiler/formats/container/trace_reader.h"
#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <regex>

// Recordings that can stay on for weeks, and what `watch` shows of them and of others. The programs mark their steps
// themselves, so that they need no PyTorch.
namespace record_test {

using testing::AllOf;
using testing::Contains;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

namespace {

/// Trains `steps` steps of 5 ms, and then runs `last`.
std::string program(int steps, const std::string& last = "", const std::string& before = "")
{
    return "import os, signal, sys, time\nimport stepscope\n" + before + "for number in range(" +
           std::to_string(steps) +
           "):\n    with stepscope.step():\n        with stepscope.range('data wait'):\n            time.sleep(0.002)\n"
           "        with stepscope.range('backward'):\n            time.sleep(0.003)\n" +
           last;
}

Ended recordAlwaysOn(const Folder& folder, const std::string& command, const std::string& options = {})
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " record --level steps -o '" + (folder / "run").string() + "' " +
                             options + " -- " + command);
}

Ended watch(const Folder& folder, const std::string& options)
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " watch '" + (folder / "run").string() + "' " + options);
}

nlohmann::json seen(const Folder& folder)
{
    const Ended ended = watch(folder, "--once --json");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
}

std::string textOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(AlwaysOn, RecordsStepsAndTheirParts)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(60));
    const Ended ended = recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string(), "--json");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto report = nlohmann::json::parse(ended.err, nullptr, false);
    ASSERT_TRUE(report.is_object()) << ended.err;
    EXPECT_EQ(report["ranks"][0]["steps"], 60);
    const auto status = seen(folder);
    ASSERT_EQ(status["ranks"].size(), 1U);
    const auto& rank = status["ranks"][0];
    EXPECT_EQ(rank["state"], "ended");
    EXPECT_EQ(rank["steps"], 60);
    EXPECT_EQ(rank["last_index"], 59);
    EXPECT_THAT(rank["p50_us"].get<double>(), AllOf(Ge(5000), Le(50'000)));
    EXPECT_THAT(rank["parts"]["data_wait_us"].get<double>(), AllOf(Ge(2000), Le(30'000)));
    EXPECT_THAT(rank["parts"]["backward_us"].get<double>(), AllOf(Ge(3000), Le(30'000)));
    EXPECT_EQ(rank["parts"]["forward_us"], 0);
    EXPECT_TRUE(rank["late_us"].is_null());
    EXPECT_TRUE(status["always_on"].get<bool>());
}

TEST(AlwaysOn, AProgramThatIsKilledLosesNoStep)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(30, "os.kill(os.getpid(), signal.SIGKILL)\n"));
    EXPECT_EQ(recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string()).status, 128 + 9);
    const auto status = seen(folder);
    EXPECT_EQ(status["ranks"][0]["state"], "killed");
    EXPECT_EQ(status["ranks"][0]["steps"], 30);
}

TEST(AlwaysOn, AProgramThatStartsAgainContinuesItsFile)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(10));
    recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string());
    recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string());
    const auto status = seen(folder);
    ASSERT_EQ(status["ranks"].size(), 1U);
    EXPECT_EQ(status["ranks"][0]["steps"], 20);
    EXPECT_EQ(status["ranks"][0]["last_index"], 9);
}

TEST(AlwaysOn, ShowsWhichRankIsLate)
{
    const Folder folder;
    const auto script =
        folder.write("train.py", "import time\nimport stepscope, os, sys\n"
                                 "late = 0.02 if os.environ['RANK'] == '1' else 0\nbegin = float(sys.argv[1])\n"
                                 "for number in range(40):\n"
                                 "    time.sleep(max(0, begin + 0.05 * number - time.time()))\n"
                                 "    with stepscope.step():\n        time.sleep(late)\n"
                                 "        with stepscope.range('backward'):\n            pass\n");
    const auto launch =
        folder.write("launch.sh", "export WORLD_SIZE=2\nbegin=$(($(date +%s) + 2))\nfor RANK in 0 1; do export RANK; " +
                                      std::string(PYTHON) + " " + script.string() + " $begin & done\nwait\n");
    ASSERT_EQ(recordAlwaysOn(folder, "sh " + launch.string()).status, 0);
    const auto status = seen(folder);
    ASSERT_EQ(status["ranks"].size(), 2U);
    EXPECT_EQ(status["ranks"][1]["world_size"], 2);
    EXPECT_NEAR(status["ranks"][1]["late_us"].get<double>() - status["ranks"][0]["late_us"].get<double>(), 20'000,
                10'000);
}

TEST(AlwaysOn, StepsAreCapturedOnDemandAsATrace)
{
    const Folder folder;
    // Ends when the test is done with it, or by itself after a minute.
    const auto script = folder.write(
        "train.py", "import os, time\nimport stepscope\nend = time.time() + 60\n"
                    "while time.time() < end and not os.path.exists('" +
                        (folder / "stop").string() +
                        "'):\n    with stepscope.step():\n        with stepscope.range('work'):\n            "
                        "time.sleep(0.005)\n");
    const Ended ended =
        shell(folder, std::string(STEPSCOPE_CLI) + " record --level steps -o '" + (folder / "run").string() + "' -- " +
                          PYTHON + " " + script.string() + " 2> '" + (folder / "recorded").string() + "' & until " +
                          STEPSCOPE_CLI + " watch --once '" + (folder / "run").string() +
                          "' > /dev/null 2>&1; do sleep 0.1; done; " + STEPSCOPE_CLI + " watch --once --json '" +
                          (folder / "run").string() + "' > '" + (folder / "alive").string() + "'; " + STEPSCOPE_CLI +
                          " watch '" + (folder / "run").string() + "' --capture 7 --json; status=$?; touch '" +
                          (folder / "stop").string() + "'; wait; exit $status");
    ASSERT_EQ(ended.status, 0) << ended.err << textOf(folder / "recorded");
    EXPECT_EQ(nlohmann::json::parse(textOf(folder / "alive"), nullptr, false)["ranks"][0]["state"], "alive");
    const auto capture = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_EQ(capture["traces"], 1) << ended.out;
    const Ended summary = shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json '" +
                                            capture["capture"].get<std::string>() + "/rank0.sstrace'");
    ASSERT_EQ(summary.status, 0) << summary.err;
    const auto steps = nlohmann::json::parse(summary.out, nullptr, false)["steps"];
    EXPECT_EQ(steps["count"], 7);
    const auto status = seen(folder);
    EXPECT_EQ(status["captures"].size(), 1U);
    EXPECT_THAT(status["ranks"][0]["steps"].get<int>(), Ge(8)); // the recording went on
}

TEST(AlwaysOn, RanksOfAJobCaptureTheSameSteps)
{
    const Folder folder;
    // Both ranks are at the same step at the same time, as ranks that communicate are.
    const auto script =
        folder.write("train.py", "import os, sys, time\nimport stepscope\nbegin = float(sys.argv[1])\nnumber = 0\n"
                                 "while number < 6000 and not os.path.exists('" +
                                     (folder / "stop").string() +
                                     "'):\n    time.sleep(max(0, begin + 0.01 * number - time.time()))\n"
                                     "    with stepscope.step():\n        time.sleep(0.002)\n    number += 1\n");
    const auto launch =
        folder.write("launch.sh", "export WORLD_SIZE=2\nbegin=$(($(date +%s) + 2))\nfor RANK in 0 1; do export RANK; " +
                                      std::string(PYTHON) + " " + script.string() + " $begin & done\nwait\n");
    const std::string run = "'" + (folder / "run").string() + "'", cli = STEPSCOPE_CLI;
    const Ended ended = shell(folder, cli + " record --level steps -o " + run + " -- sh " + launch.string() +
                                          " 2> /dev/null & until " + cli + " watch --once --json " + run +
                                          " 2> /dev/null | grep -q '\"rank\": 1'; do sleep 0.1; done; " + cli +
                                          " watch " + run + " --capture 6 --json; status=$?; touch '" +
                                          (folder / "stop").string() + "'; wait; exit $status");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto capture = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_EQ(capture["traces"], 2) << ended.out;
    std::vector<std::int64_t> first;
    for (const char* file : {"/rank0.sstrace", "/rank1.sstrace"}) {
        auto trace = profiler::container::readTrace(capture["capture"].get<std::string>() + file);
        ASSERT_TRUE(trace);
        const auto steps = (*trace)->ofKind(profiler::ActivityKind::Step);
        ASSERT_EQ(steps.size(), 6U) << file;
        first.push_back(steps.front().args.value);
    }
    EXPECT_EQ(first[0], first[1]);
    EXPECT_GT(first[0], 0);
}

TEST(AlwaysOn, ACaptureNeedsARunningRecording)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(5));
    recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string());
    const Ended ended = watch(folder, "--capture 5");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("no always-on recording is running"));
    EXPECT_FALSE(std::filesystem::exists(folder / "run" / "capture.json"));
}

TEST(AlwaysOn, AProgramWithoutStepsIsAnError)
{
    const Folder folder;
    const Ended ended = recordAlwaysOn(folder, "sh -c true", "--report '" + (folder / "report.json").string() + "'");
    EXPECT_EQ(ended.status, 1);
    const auto report = nlohmann::json::parse(textOf(folder / "report.json"), nullptr, false);
    EXPECT_EQ(report["error"]["id"], "record.always_on.nothing");
}

TEST(AlwaysOn, OptionsThatDoNotFitAreWrongUsage)
{
    const Folder folder;
    for (const char* option : {"--ops", "--for 5", "--no-python"})
        EXPECT_EQ(recordAlwaysOn(folder, "true", option).status, 2) << option;
    EXPECT_EQ(record(folder, "true", "--capture-slow 60").status, 2);
    EXPECT_EQ(watch(folder, "--capture 5 --prometheus -").status, 2);
}

TEST(Watch, PrometheusReadsItsText)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(20));
    recordAlwaysOn(folder, std::string(PYTHON) + " " + script.string());
    const Ended ended = watch(folder, "--once --prometheus '" + (folder / "stepscope.prom").string() + "'");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const std::string text = textOf(folder / "stepscope.prom");
    const std::regex sample("[a-z_]+(\\{[a-z0-9_]+=\"[^\"]*\"(,[a-z0-9_]+=\"[^\"]*\")*\\})? [-+0-9.e]+");
    const std::regex comment("# (HELP|TYPE) stepscope_[a-z0-9_]+ .+");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(std::regex_match(line, line[0] == '#' ? comment : sample) || line.find("p50") != line.npos ||
                    line.find("p99") != line.npos)
            << line;
    EXPECT_THAT(text, HasSubstr("stepscope_steps_total{rank=\"0\""));
    EXPECT_THAT(text, HasSubstr("phase=\"data_wait\""));
    EXPECT_EQ(watch(folder, "--prometheus -").out, text);
    EXPECT_THAT(folder.files(), testing::Not(Contains(HasSubstr("stepscope.prom."))));
}

TEST(Watch, SeesARecordingOfAnotherLevelWhileItRuns)
{
    const Folder folder;
    const auto script = folder.write("train.py", program(40, "time.sleep(5)\n"));
    const std::string trace = "'" + (folder / "t.sstrace").string() + "'";
    const Ended ended = shell(folder, std::string(STEPSCOPE_CLI) + " record --level always -o " + trace + " -- " +
                                          PYTHON + " " + script.string() + " 2> /dev/null & for i in $(seq 100); do " +
                                          STEPSCOPE_CLI + " watch --once --json " + trace +
                                          " 2> /dev/null | tee /dev/stderr | grep -q '\"steps\": 40' && break; "
                                          "sleep 0.1; done 2> '" +
                                          (folder / "seen").string() + "'; wait");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const std::string text = textOf(folder / "seen");
    EXPECT_THAT(text, HasSubstr("\"alive\""));
    EXPECT_THAT(text, HasSubstr("\"steps\": 40"));
    const Ended after = shell(folder, std::string(STEPSCOPE_CLI) + " watch --once --json " + trace);
    EXPECT_EQ(nlohmann::json::parse(after.out, nullptr, false)["ranks"][0]["state"], "ended") << after.err;
}

TEST(Watch, APlaceWithoutARecordingIsAnError)
{
    const Folder folder;
    EXPECT_EQ(watch(folder, "--once").status, 1); // no such folder
    std::filesystem::create_directory(folder / "run");
    std::ofstream(folder / "run" / "rank0.steps") << "SSSTEPS1 and nothing else";
    EXPECT_EQ(watch(folder, "--once").status, 1);
}

} // namespace record_test
