#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

constexpr std::string_view kRun = R"(
    main
      repeat 3 every 100
        annotation ProfilerStep#0 0 100
        op aten::linear 10 40
        call cudaLaunchKernel 20 5 corr=5
      end
    stream 0 7
      repeat 3 every 100
        kernel gemm 30 60 corr=5
      end
)";

TEST(Calls, TopDownAsJson)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    const Ended ended = run({"calls", trace, "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["total_us"], 300);
    ASSERT_EQ(json["calls"].size(), 3U);
    EXPECT_EQ(json["calls"][0]["name"], "ProfilerStep");
    EXPECT_EQ(json["calls"][1]["name"], "aten::linear");
    EXPECT_EQ(json["calls"][1]["parent"], 0);
    EXPECT_EQ(json["calls"][1]["self_us"], 105);
    EXPECT_EQ(json["calls"][2]["calls"], 3);
}

TEST(Calls, DeviceTimeOfOneStepAndCallers)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    const Ended ended = run({"calls", trace, "--device", "--bottom-up", "--steps-from", "none", "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["total_us"], 180);
    EXPECT_EQ(json["calls"][0]["name"], "gemm");
    EXPECT_EQ(json["calls"][1]["name"], "aten::linear");
    const Ended other = run({"calls", trace, "--step", "7"});
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.err, HasSubstr("no step 7"));
}

TEST(Calls, CollapsedStacksForOtherTools)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", kRun);
    EXPECT_EQ(run({"calls", trace, "--collapsed"}).out, "ProfilerStep 180\n"
                                                        "ProfilerStep;aten::linear 105\n"
                                                        "ProfilerStep;aten::linear;cudaLaunchKernel 15\n");
}

TEST(Calls, AMissingGroupingIsAnErrorWithTheWayToRecordIt)
{
    const Folder folder;
    const Ended ended = run({"calls", folder.trace("a.sstrace", kRun), "--by", "python"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("with_stack=True"));
}

TEST(Summarize, ExplainsAStepOnRequest)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", R"(
        main
          repeat 8 every 1000
            step 0 0 1000
            phase "data wait" 0 100
          end
          step 8 8000 2000
          phase "data wait" 8000 1100
    )");
    const Ended ended = run({"summarize", trace, "--why-step", "8", "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const Json why = Json::parse(ended.out)["why_step"];
    EXPECT_EQ(why["excess_us"], 1000);
    ASSERT_EQ(why["causes"].size(), 1U);
    EXPECT_EQ(why["causes"][0]["reason"]["id"], "slow_step.data_wait");
    EXPECT_EQ(why["causes"][0]["begin_us"], 8000);
    EXPECT_THAT(run({"summarize", trace, "--why-step", "8"}).out, HasSubstr("longer for data"));
    EXPECT_EQ(run({"summarize", trace, "--why-step", "99"}).status, 1);
}

} // namespace
} // namespace cli_test
