#include "tests/cli/cli_program.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

/// A run with steps of these durations (µs) on one GPU, with a kernel in half of each.
std::string runOf(std::initializer_list<int> us, const std::string& gpu = "H100", const std::string& kernel = "gemm")
{
    std::string steps, kernels;
    int begin = 0, index = 0;
    for (const int duration : us) {
        steps +=
            " step " + std::to_string(index++) + " " + std::to_string(begin) + " " + std::to_string(duration) + "\n";
        kernels += " kernel " + kernel + " " + std::to_string(begin + 10) + " " + std::to_string(duration / 2) + "\n";
        begin += duration;
    }
    return "device 0 " + gpu + "\nmain\n" + steps + "stream 0 7\n" + kernels;
}

Json difference(const std::string& a, const std::string& b)
{
    const Folder folder;
    const Ended ended = run({"diff", folder.trace("a.sstrace", a), folder.trace("b.sstrace", b), "--json"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out);
}

TEST(Diff, FasterIfTheIntervalShowsIt)
{
    const Json json = difference(runOf({200, 202, 198, 201, 199, 200}), runOf({100, 101, 99, 100, 102, 98}));
    EXPECT_EQ(json["comparable"], true);
    EXPECT_THAT(json["why_not"], IsEmpty());
    EXPECT_EQ(json["verdict"], "faster");
    EXPECT_EQ(json["step_us"]["a"], 200);
    EXPECT_EQ(json["step_us"]["b"], 100);
    EXPECT_DOUBLE_EQ(json["step_us"]["ratio"], 2);
    EXPECT_GT(json["step_us"]["ci95"][0], 1.9);
    EXPECT_LT(json["step_us"]["ci95"][1], 2.1);
    EXPECT_EQ(json["kernels_per"], "step");
    EXPECT_EQ(json["kernels"][0]["name"], "gemm");
    EXPECT_DOUBLE_EQ(json["kernels"][0]["delta_us"], -50);
    EXPECT_NEAR(json["breakdown"]["kernel"]["a"].get<double>(), 0.5, 0.01);
}

TEST(Diff, TheVerdictTheHeadlineAndTheTextStateOneStatistic)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({200, 202, 198, 201, 199, 200})),
                      b = folder.trace("b.sstrace", runOf({160, 161, 159, 160, 162, 158}));
    const Json json = Json::parse(run({"diff", a, b, "--json"}).out);
    const Json& statistic = json["statistic"];
    EXPECT_EQ(statistic["name"], "ratio of medians");
    EXPECT_DOUBLE_EQ(statistic["ratio"], 1.25);
    EXPECT_DOUBLE_EQ(statistic["ratio"].get<double>(), json["step_us"]["median"]["ratio"].get<double>());
    EXPECT_EQ(statistic["a"], 200);
    EXPECT_EQ(statistic["b"], 160);
    EXPECT_GT(statistic["ci95"][0], 1.2);
    EXPECT_EQ(json["verdict"], "faster");
    EXPECT_EQ(json["headline"], "b is 25 % faster than a");
    const std::string text = run({"diff", a, b}).out;
    EXPECT_TRUE(text.starts_with("b is 25 % faster than a\n")) << text;
    EXPECT_THAT(text, HasSubstr("Ratio of median step times 1.250"));
    EXPECT_THAT(run({"diff", b, a}).out, testing::StartsWith("b is 20 % slower than a\n"));
}

TEST(Diff, SteadyMeansHaveTheirOwnInterval)
{
    // The first step of b is warm-up: the interval of all marks contains 1, that of steady steps does not.
    const Json step =
        difference(runOf({200, 202, 198, 201, 199, 200}), runOf({900, 101, 99, 100, 102, 98, 100}))["step_us"];
    EXPECT_NEAR(step["steady_mean"]["ratio"].get<double>(), 2, 0.02);
    EXPECT_GT(step["steady_mean"]["ci95"][0], 1.9);
    EXPECT_LT(step["steady_mean"]["ci95"][1], 2.1);
    EXPECT_LT(step["ci95"][0], 1);
}

TEST(Diff, WithoutSteadyStepsTheirMeanIsNull)
{
    EXPECT_TRUE(difference(runOf({200}), runOf({100}))["step_us"]["steady_mean"].is_null());
}

TEST(Diff, SlowerIfTheTracesAreSwapped)
{
    EXPECT_EQ(difference(runOf({100, 101, 99, 100}), runOf({200, 202, 198, 201}))["verdict"], "slower");
}

TEST(Diff, SpreadHidesADifference)
{
    const Json json = difference(runOf({100, 200, 120, 190, 140}), runOf({95, 190, 115, 185, 130}));
    EXPECT_EQ(json["verdict"], "no difference shown");
    EXPECT_LT(json["step_us"]["ci95"][0], 1);
    EXPECT_GT(json["step_us"]["ci95"][1], 1);
}

TEST(Diff, OneStepHasNoInterval)
{
    const Json json = difference(runOf({200}), runOf({100}));
    EXPECT_TRUE(json["step_us"]["ci95"].is_null());
    EXPECT_EQ(json["verdict"], "no difference shown");
}

TEST(Diff, WithoutStepsTheTracesAreCompared)
{
    const Json json =
        difference("stream 0 7\n kernel a 0 100\n kernel b 100 50", "stream 0 7\n kernel a 0 80\n kernel b 80 40");
    EXPECT_TRUE(json["step_us"].is_null());
    EXPECT_TRUE(json["breakdown"].is_null());
    EXPECT_EQ(json["kernel_time_us"]["a"], 150);
    EXPECT_DOUBLE_EQ(json["kernel_time_us"]["ratio"], 1.25);
    EXPECT_EQ(json["kernels_per"], "trace");
    EXPECT_EQ(json["verdict"], "no difference shown");
}

TEST(Diff, DifferentHardwareIsNotComparable)
{
    const Json json = difference(runOf({200, 202, 198}), runOf({100, 101, 99}, "V100"));
    EXPECT_EQ(json["comparable"], false);
    EXPECT_EQ(json["verdict"], "not comparable");
    EXPECT_THAT(json["why_not"][0].get<std::string>(), HasSubstr("H100 and V100"));
    EXPECT_EQ(json["why_not_messages"][0]["id"], "diff.not_comparable.hardware");
    EXPECT_EQ(json["why_not_messages"][0]["parameters"]["a"], "H100");
    EXPECT_EQ(json["headline"], "b is not comparable with a");
}

TEST(Diff, DevicesThatRanNothingAreNotDifferentHardware)
{
    const std::string four = "device 1 H100\ndevice 2 H100\ndevice 3 H100\n" + runOf({100, 101, 99});
    EXPECT_EQ(difference(runOf({200, 202, 198}), four)["comparable"], true);
    const Json json =
        difference("device 0 V100\ndevice 1 V100\nstream 0 7\nkernel gemm 0 9\nstream 1 7\nkernel gemm 0 9",
                   "device 0 H100\nstream 0 7\nkernel gemm 0 9");
    EXPECT_THAT(json["why_not"][0].get<std::string>(), HasSubstr("2 × V100 and H100"));
}

TEST(Diff, DifferentWorkIsNotComparable)
{
    const Json json = difference(runOf({200, 202, 198}), runOf({100, 101, 99}, "H100", "relu"));
    EXPECT_EQ(json["comparable"], false);
    EXPECT_EQ(json["why_not_messages"][0]["id"], "diff.not_comparable.kernels");
}

std::string content(const std::string& path)
{
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Diff, ASlowdownBeyondTheLimitFails)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({100, 101, 99, 100, 102, 98})),
                      b = folder.trace("b.sstrace", runOf({120, 121, 119, 120, 122, 118})), xml = folder / "<x>.xml";
    const Ended slower = run({"diff", a, b, "--fail-if-slower", "10", "--junit", xml, "--json"});
    EXPECT_EQ(slower.status, 3) << slower.err;
    const Json json = Json::parse(slower.out);
    EXPECT_EQ(json["check"]["passed"], false);
    EXPECT_EQ(json["check"]["why_id"], "slowdown.beyond_limit");
    EXPECT_THAT(content(xml), HasSubstr("<failure type=\"slowdown.beyond_limit\" message=\"A step takes +20.0 % time"));
    EXPECT_THAT(content(xml), HasSubstr("failures=\"1\""));

    EXPECT_EQ(run({"diff", a, b, "--fail-if-slower", "25", "--junit", xml}).status, 0);
    EXPECT_THAT(content(xml), HasSubstr("failures=\"0\""));
    EXPECT_EQ(run({"diff", b, a, "--fail-if-slower", "0"}).status, 0);
    EXPECT_EQ(run({"diff", a, b}).status, 0);
}

TEST(Diff, TracesThatCannotBeComparedFailTheCheck)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({200, 202, 198})),
                      other = folder.trace("b.sstrace", runOf({100, 101, 99}, "H100", "relu"));
    const auto whyOf = [](const std::string& before, const std::string& after) {
        const Ended ended = run({"diff", before, after, "--fail-if-slower", "5", "--json"});
        EXPECT_EQ(ended.status, 3);
        return Json::parse(ended.out)["check"]["why_id"].get<std::string>();
    };
    EXPECT_EQ(whyOf(a, other), "diff.not_comparable.kernels");
    const std::string noSteps = folder.trace("c.sstrace", "device 0 H100\nstream 0 7\nkernel gemm 0 100");
    EXPECT_EQ(whyOf(a, noSteps), "diff.not_comparable.steps");
    EXPECT_EQ(whyOf(noSteps, noSteps), "slowdown.no_steps");
}

TEST(Diff, TheOptionsOfTheCheckAreChecked)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({200, 202, 198}));
    EXPECT_EQ(run({"diff", a, a, "--fail-if-slower", "-1"}).status, 2);
    EXPECT_EQ(run({"diff", a, a, "--junit", folder / "x.xml"}).status, 2);
    EXPECT_EQ(run({"diff", a, a, "--fail-if-slower", "5", "--junit", folder / "none/x.xml"}).status, 1);
}

TEST(Diff, AMissingFileIsOneLine)
{
    const Folder folder;
    const Ended ended = run({"diff", folder.trace("a.sstrace", runOf({100})), folder / "b.sstrace"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("b.sstrace"));
}

TEST(DiffOfAStep, ListsWhatChangedInTheStepWithThatNumber)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({200, 300, 400})),
                      b = folder.trace("b.sstrace", runOf({100, 160, 100}, "H100", "gemm_tf32"));
    const Json json = Json::parse(run({"diff", a, b, "--step", "1", "--json"}).out);
    EXPECT_EQ(json["step"]["a"], 1);
    EXPECT_EQ(json["step"]["b"], 1);
    EXPECT_EQ(json["matched_by"], "number");
    EXPECT_EQ(json["time_us"]["a"], 300);
    EXPECT_EQ(json["delta_us"], -140);
    const Json& kernels = json["kernels"];
    ASSERT_EQ(kernels.size(), 2);
    EXPECT_EQ(kernels[0]["name"], "gemm");
    EXPECT_EQ(kernels[0]["delta_us"], -150);
    EXPECT_EQ(kernels[0]["in"], "a");
    EXPECT_EQ(kernels[1]["name"], "gemm_tf32");
    EXPECT_EQ(kernels[1]["time_us"]["b"], 80);
    EXPECT_EQ(kernels[1]["in"], "b");
    const std::string text = run({"diff", a, b, "--step", "1"}).out;
    EXPECT_THAT(text, testing::StartsWith("Step 1 of a: 300 µs; step 1 of b: 160 µs (-140 µs)\n"));
    EXPECT_THAT(text, HasSubstr("gone"));
}

TEST(DiffOfAStep, WithoutCommonNumbersTheOrderDecides)
{
    const Folder folder;
    const Ended ended =
        run({"diff", folder.trace("a.sstrace", runOf({200, 300})),
             folder.trace("b.sstrace", "main\nstep 70 0 100\nstep 71 100 150\n"), "--step", "1", "--json"});
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["matched_by"], "position");
    EXPECT_EQ(json["step"]["b"], 71);
}

TEST(DiffOfAStep, AStepThatDoesNotExistIsNamed)
{
    const Folder folder;
    const std::string a = folder.trace("a.sstrace", runOf({200, 300, 250})),
                      b = folder.trace("b.sstrace", runOf({200, 300}));
    const Ended missing = run({"diff", a, b, "--step", "7"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr("the trace has no step 7"));
    EXPECT_THAT(missing.err, HasSubstr("a.sstrace"));
    const Ended unmatched = run({"diff", a, b, "--step", "2"});
    EXPECT_EQ(unmatched.status, 1);
    EXPECT_THAT(unmatched.err, HasSubstr("b.sstrace"));
}

} // namespace
} // namespace cli_test
