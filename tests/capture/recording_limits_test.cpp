#include "profiler/capture/recording_scope.h"

#include <gtest/gtest.h>

using namespace profiler::capture;

namespace {

std::string idOf(const profiler::Error& error)
{
    return error.what.id;
}

} // namespace

TEST(RecordingLimits, StepsAreARangeOrASingleStep)
{
    EXPECT_EQ(stepRangeOf("10-29").value(), (NumberRange{10, 29}));
    EXPECT_EQ(stepRangeOf("0").value(), (NumberRange{0, 0}));
    EXPECT_TRUE((NumberRange{10, 29}).contains(29));
    EXPECT_FALSE((NumberRange{10, 29}).contains(30));
    for (const char* text : {"", "-", "5-", "-5", "a-b", "1-2-3", "1,2", "1.5", " 1", "99999999999999999999"})
        EXPECT_EQ(idOf(stepRangeOf(text).error()), "record.steps.syntax") << text;
    EXPECT_EQ(idOf(stepRangeOf("29-10").error()), "record.steps.reversed");
}

TEST(RecordingLimits, RanksAreSortedAndMerged)
{
    const auto ranks = rankListOf("64-71,0,7,8");
    ASSERT_TRUE(ranks);
    EXPECT_EQ(rankListText(*ranks), "0,7-8,64-71");
    EXPECT_TRUE(containsRank(*ranks, 64));
    EXPECT_TRUE(containsRank(*ranks, 71));
    EXPECT_FALSE(containsRank(*ranks, 72));
    EXPECT_FALSE(containsRank(*ranks, 1));
    EXPECT_TRUE(containsRank({}, 1)) << "no list: all";
    EXPECT_EQ(rankListText(rankListOf("3,1-4,2").value()), "1-4");
    EXPECT_EQ(rankListText(rankListOf("0-9223372036854775807,5").value()), "0-9223372036854775807");
    for (const char* text : {"", ",", "0,", ",0", "x", "1--2", "-1", "0;1"})
        EXPECT_EQ(idOf(rankListOf(text).error()), "record.ranks.syntax") << text;
    EXPECT_EQ(idOf(rankListOf("0,7-3").error()), "record.ranks.reversed");
}

TEST(RecordingLimits, SizesHaveDecimalOrBinaryUnits)
{
    EXPECT_EQ(byteCountOf("500MB").value(), 500'000'000U);
    EXPECT_EQ(byteCountOf("1.5GB").value(), 1'500'000'000U);
    EXPECT_EQ(byteCountOf("64MiB").value(), 64U << 20);
    EXPECT_EQ(byteCountOf("2000000").value(), 2'000'000U);
    for (const char* text : {"", "MB", "-5MB", "five", "nan", "inf"})
        EXPECT_EQ(idOf(byteCountOf(text).error()), "record.size.syntax") << text;
    for (const char* text : {"5mb", "5 MB", "5M", "5GBit"})
        EXPECT_EQ(idOf(byteCountOf(text).error()), "record.size.unit") << text;
    for (const char* text : {"0", "999KB", "1e30"})
        EXPECT_EQ(idOf(byteCountOf(text).error()), "record.size.range") << text;
}
