#include "advisor/rule.h"
#include "advisor/tip_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(TipText, EveryRuleIsExplained)
{
    for (const Rule& rule : allRules()) {
        EXPECT_EQ(tipText(rule.key).substr(0, 2), "# ") << rule.key;
        for (const auto heading : {tip_section::kWhat, tip_section::kWhy, tip_section::kWhenNot})
            EXPECT_THAT(tipSection(rule.key, heading), Not(IsEmpty())) << rule.key << ' ' << heading;
        for (const auto heading : {tip_section::kPyTorch, tip_section::kLibTorch}) {
            const std::string code(tipCode(rule.key, heading));
            EXPECT_THAT(code, Not(IsEmpty())) << rule.key << ' ' << heading;
            EXPECT_THAT(code, Not(HasSubstr("```"))) << rule.key;
        }
    }
}

TEST(TipText, ASectionEndsWhereTheNextBegins)
{
    const std::string why(tipSection("loader.workers", tip_section::kWhy));
    EXPECT_THAT(why, Not(HasSubstr("##")));
    EXPECT_EQ(why.front(), 'I');
    EXPECT_EQ(why.back(), '.');
}

TEST(TipText, UnknownKeysAndHeadingsAreEmpty)
{
    EXPECT_THAT(tipText("no.such_tip"), IsEmpty());
    EXPECT_THAT(tipSection("loader.workers", "No such heading"), IsEmpty());
    EXPECT_THAT(tipCode("loader.workers", tip_section::kWhy), IsEmpty());
}

TEST(TipText, CodeHasTheValuesOfTheRunAndOfTheChange)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("batch.size", "32"));
    const Toggle change{"loader.workers", "0", "1"};
    const std::string python = tipCodeOfRun("loader.workers", tip_section::kPyTorch, change, &config);
    EXPECT_THAT(python, HasSubstr("DataLoader(dataset, batch_size=32, shuffle=True"));
    EXPECT_THAT(python, HasSubstr("num_workers=1)\n"));
    EXPECT_THAT(tipCodeOfRun("loader.workers", tip_section::kLibTorch, change, &config),
                HasSubstr(".batch_size(32).workers(1).max_jobs(2)"));
    // Without workers the example would not run: that of other tips stays.
    EXPECT_THAT(tipCodeOfRun("loader.pin_memory", tip_section::kPyTorch, {}, &config),
                HasSubstr("batch_size=32, num_workers=4, "));
    EXPECT_THAT(tipCodeOfRun("host.bound", tip_section::kPyTorch, {}, &config), HasSubstr("batch_size=256"))
        << "it is about a larger one";
    EXPECT_EQ(tipCodeOfRun("loader.workers", tip_section::kPyTorch, {}, nullptr),
              tipCode("loader.workers", tip_section::kPyTorch));
}

TEST(TipText, LibTorchCountsBatchesInFlightOverAllWorkers)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("loader.prefetch_factor", "3"));
    const auto code = [&](std::string_view key, const Toggle& change, const config::TrainingConfig* of) {
        return tipCodeOfRun(key, tip_section::kLibTorch, change, of);
    };
    EXPECT_THAT(code("loader.workers", {"loader.workers", "0", "8"}, &config), HasSubstr(".workers(8).max_jobs(24)"));
    EXPECT_THAT(code("loader.workers", {"loader.workers", "0", "8"}, nullptr), HasSubstr(".workers(8).max_jobs(16)"));
    ASSERT_TRUE(config.set("loader.workers", "8"));
    for (const char* tip : {"loader.prefetch_factor", "step.variance"})
        EXPECT_THAT(code(tip, {"loader.prefetch_factor", "3", "5"}, &config), HasSubstr(".workers(8).max_jobs(40)"))
            << tip;
}

} // namespace
} // namespace advisor
