#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/wait.h>

/// Mistyped commands, a full disk, and empty traces.
namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

/// A training run on the CPU that loads its own batches.
constexpr std::string_view kCpuRun = R"(
    meta host.cores 2
    main
      repeat 20 every 1000
        step 0 0 1000
        phase "data wait" 0 600
        phase forward 600 200
        op aten::conv2d 600 150
      end
)";

Json jsonOf(const Ended& ended)
{
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
}

std::string onlyLine(const std::string& text)
{
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    return text;
}

std::string textOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Exit status of a shell command line.
int shell(const std::string& line)
{
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Output, ThatCannotBeWrittenIsAnError)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", kCpuRun), said = folder / "said";
    for (const std::string& command : {"summarize " + trace, "advise --json " + trace, "diff " + trace + ' ' + trace,
                                       std::string("describe"), std::string("--help")}) {
        EXPECT_EQ(shell(STEPSCOPE_CLI " " + command + " > /dev/full 2> " + said), 1) << command;
        EXPECT_THAT(textOf(said), HasSubstr("the output could not be written: ")) << command;
    }
    // It is not an error if the reader stops reading.
    const std::string status = folder / "status";
    shell("{ " STEPSCOPE_CLI " describe --json 2> " + said + "; echo $? > " + status + "; } | true");
    EXPECT_TRUE(std::filesystem::is_empty(said));
    EXPECT_EQ(textOf(status), "0\n");
}

TEST(Usage, IsCorrectedInWords)
{
    const Folder folder;
    const std::string config = folder.write("c.json", "{}");
    const auto wrong = [](const std::vector<std::string>& arguments) {
        const Ended ended = run(arguments);
        EXPECT_EQ(ended.status, 2);
        return onlyLine(ended.err);
    };
    EXPECT_THAT(wrong({"sumarize", "x"}), HasSubstr("Unknown command 'sumarize'; did you mean summarize? ("));
    EXPECT_THAT(wrong({"explain", "x"}), HasSubstr("Unknown command 'explain': choose one of summarize, "));
    EXPECT_THAT(wrong({"summarize", "--jsn", "x"}), HasSubstr("--jsn; did you mean --json? ("));
    EXPECT_THAT(wrong({"advise", "x", "--why-stop=3"}), HasSubstr("--why-stop=3 (stepscope-cli advise --help)"));
    EXPECT_THAT(wrong({"experiment", "--config", config, "--budget", "0"}), HasSubstr("--budget: 0 is not above 0 ("));
    EXPECT_THAT(wrong({"tune", "--config", config, "--budget", "3"}), HasSubstr("3 is too short"));
    EXPECT_THAT(wrong({"record", "-o", "r.sstrace", "--for", "0", "--", "true"}), HasSubstr("0 is not above 0 ("));
    EXPECT_THAT(wrong({"record", "-o", "r.sstrace", "--seconds", "0", "--", "true"}), HasSubstr("0 is not above 0 ("));
    EXPECT_THAT(wrong({"record", "-o", "r.sstrace", "--ops", "--no-python", "--", "true"}), HasSubstr("excludes"));
    EXPECT_THAT(wrong({"record", "-o", folder / "r.json.gz", "--", "true"}), HasSubstr("then convert that"));
    EXPECT_THAT(wrong({"train", "--config", config, "-o", folder / "t.json"}), HasSubstr("not .json"));
    EXPECT_THAT(wrong({"experiment", "--config", config, "--set", "=3"}), HasSubstr("'=3' does not set anything"));
}

TEST(Advise, ClaimsNothingForAnEmptyTrace)
{
    const Folder folder;
    const Json json = jsonOf(run({"advise", folder.write("t.json", R"({"traceEvents": []})"), "--json"}));
    for (const Json& row : json["advice"]) {
        EXPECT_THAT(row["reason"].get<std::string>(), Not(HasSubstr("CPU"))) << row["id"];
        EXPECT_NE(row["state"], "fires") << row["id"];
    }
}

TEST(Advise, OfARecordingWithoutWorkersAsksForNoneOfThem)
{
    const Folder folder;
    const Json json = jsonOf(run({"advise", folder.trace("a.sstrace", kCpuRun), "--json"}));
    const auto row = std::find_if(json["advice"].begin(), json["advice"].end(),
                                  [](const Json& advice) { return advice["id"] == "loader.persistent_workers"; });
    ASSERT_NE(row, json["advice"].end());
    EXPECT_EQ((*row)["state"], "silent") << (*row)["reason"];
}

TEST(Summarize, NamesTheRangesThatMayBeSteps)
{
    const Folder folder;
    const std::string trace = folder.trace("a.sstrace", R"(
        main
          nvtx "iteration 1" 0 100
          nvtx "iteration 2" 100 100
          nvtx "iteration 3" 200 100
          nvtx load 0 10
          nvtx load 100 10
          nvtx once 0 5
    )");
    const Ended ended = run({"summarize", trace});
    EXPECT_THAT(
        ended.out,
        HasSubstr("--step-range uses ranges with one of these names as steps: iteration (3 times), load (2 times)."))
        << ended.out;
    EXPECT_THAT(run({"summarize", trace, "--step-range", "iteration"}).out, Not(HasSubstr("--step-range uses")));
}

} // namespace
} // namespace cli_test
