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

} // namespace
} // namespace advisor
