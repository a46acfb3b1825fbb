#include "profiler/model/number_text.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace profiler {
namespace {

struct Golden {
    double value;
    const char* text;
};

TEST(DurationText, HasThreeSignificantDigitsAndAUnit)
{
    constexpr Golden kNs[] = {{0, "0 ns"},
                              {1, "1 ns"},
                              {850, "850 ns"},
                              {999, "999 ns"},
                              {1'000, "1.00 µs"},
                              {1'234, "1.23 µs"},
                              {41'240, "41.2 µs"},
                              {999'400, "999 µs"},
                              {999'499, "999 µs"},
                              {999'500, "1.00 ms"},
                              {1'000'000, "1.00 ms"},
                              {41'234'567, "41.2 ms"},
                              {412'345'678, "412 ms"},
                              {999'600'000, "1.00 s"},
                              {1'500'000'000, "1.50 s"},
                              {119'000'000'000, "119 s"},
                              {119'400'000'000, "119 s"},
                              {119'600'000'000, "1.99 min"},
                              {120'000'000'000, "2.00 min"},
                              {738'000'000'000, "12.3 min"},
                              {-41'234'567, "-41.2 ms"},
                              {-1, "-1 ns"}};
    for (const Golden& row : kNs) {
        EXPECT_EQ(durationText(Nanoseconds{static_cast<std::int64_t>(row.value)}), row.text) << row.value;
        EXPECT_EQ(timeText(row.value / 1000), row.text) << row.value << ", from µs";
    }
    EXPECT_EQ(timeText(0.0004), "0 ns") << "a mean may be less than a nanosecond";
    EXPECT_EQ(timeText(0.9999), "1.00 µs") << "the value is rounded before the unit is chosen";
}

TEST(PositionText, HasEveryDigit)
{
    constexpr std::pair<std::int64_t, const char*> kNs[] = {
        {0, "0.000 000 000 s"},
        {1, "0.000 000 001 s"},
        {-1, "-0.000 000 001 s"},
        {123'456, "0.000 123 456 s"},
        {999'999'999, "0.999 999 999 s"},
        {1'000'000'000, "1.000 000 000 s"},
        {12'345'678'901, "12.345 678 901 s"},
        {-12'345'678'901, "-12.345 678 901 s"},
        {1'234'567'890'123, "1,234.567 890 123 s"},
        {std::numeric_limits<std::int64_t>::max(), "9,223,372,036.854 775 807 s"},
        {std::numeric_limits<std::int64_t>::min(), "-9,223,372,036.854 775 808 s"}};
    for (const auto& [ns, text] : kNs)
        EXPECT_EQ(positionText(Nanoseconds{ns}), text);
}

TEST(PositionText, HasOnlyTheDigitsThatAnAxisNeeds)
{
    constexpr Nanoseconds kTime{12'345'678'901};
    EXPECT_EQ(positionText(kTime, 0), "12 s");
    EXPECT_EQ(positionText(kTime, 1), "12.3 s");
    EXPECT_EQ(positionText(kTime, 3), "12.345 s");
    EXPECT_EQ(positionText(kTime, 6), "12.345 678 s")
        << "truncated, not rounded: rounding up would give a later position";
    EXPECT_EQ(positionText(kTime, 9), positionText(kTime));
    EXPECT_EQ(positionText(kTime, 12), positionText(kTime));
}

TEST(ShareText, IsInPercent)
{
    constexpr Golden kShares[] = {{0, "0 %"},          {0.00004, "< 0.01 %"}, {0.00006, "0.01 %"}, {0.0005, "0.05 %"},
                                  {0.00512, "0.51 %"}, {0.0525, "5.25 %"},    {0.6, "60.0 %"},     {0.6124, "61.2 %"},
                                  {0.9994, "99.9 %"},  {0.9996, "100 %"},     {1, "100 %"},        {12.5, "1,250 %"},
                                  {-0.05, "-5.00 %"}};
    for (const Golden& row : kShares)
        EXPECT_EQ(shareText(row.value), row.text) << row.value;
}

TEST(BytesText, IsInPowersOfAThousand)
{
    constexpr Golden kBytes[] = {{0, "0 B"},           {512, "512 B"},          {999, "999 B"},
                                 {1000, "1.00 kB"},    {38'535'168, "38.5 MB"}, {999'999'999, "1.00 GB"},
                                 {4.5e15, "4,500 TB"}, {-999, "-999 B"},        {-1000, "-1.00 kB"}};
    for (const Golden& row : kBytes)
        EXPECT_EQ(bytesText(row.value), row.text) << row.value;
    EXPECT_EQ(bytesText(std::numeric_limits<std::int64_t>::min()), "-9,220,000 TB");
}

TEST(SignificantText, HasThreeDigitsOrAPowerOfTen)
{
    constexpr Golden kValues[] = {{0, "0"},
                                  {812, "812"},
                                  {9.996, "10.0"},
                                  {0.001234, "0.00123"},
                                  {12'345, "12,300"},
                                  {999'400, "999,000"},
                                  {999'999, "1.00e+06"},
                                  {1.2345e38, "1.23e+38"},
                                  {-4.5e9, "-4.50e+09"},
                                  {1.234e-30, "1.23e-30"},
                                  {0.0000012, "0.00000120"}};
    for (const Golden& row : kValues)
        EXPECT_EQ(significantText(row.value), row.text) << row.value;
    EXPECT_EQ(significantText(2.5e7, kPlainCounts), "25,000,000");
}

TEST(CountText, GroupsThousands)
{
    EXPECT_EQ(countText(999), "999");
    EXPECT_EQ(countText(1000U), "1,000");
    EXPECT_EQ(countText(std::int64_t{-123'456}), "-123,456");
    EXPECT_EQ(countText(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
    EXPECT_EQ(countText(2.54), "2.5");
    EXPECT_EQ(countText(1234.5), "1,234.5");
    EXPECT_EQ(countText(12'345'678.0), "12,345,678");
    EXPECT_EQ(fixedText(-0.001, 1), "0.0") << "not -0.0";
}

TEST(NumberText, ShowsADashIfThereIsNoNumber)
{
    for (const double none : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(timeText(none), "–");
        EXPECT_EQ(shareText(none), "–");
        EXPECT_EQ(bytesText(none), "–");
        EXPECT_EQ(significantText(none), "–");
    }
}

} // namespace
} // namespace profiler
