#include "app/look/number_format.h"

#include <gtest/gtest.h>

namespace app {
namespace {

using profiler::Nanoseconds;

std::string duration(std::int64_t ns)
{
    return formatDuration(Nanoseconds{ns}).toStdString();
}

TEST(NumberFormat, GivesDurationsThreeDigitsAndAUnit)
{
    EXPECT_EQ(duration(0), "0 ns");
    EXPECT_EQ(duration(850), "850 ns");
    EXPECT_EQ(duration(1'000), "1.00 µs");
    EXPECT_EQ(duration(41'234'567), "41.2 ms");
    EXPECT_EQ(duration(412'345'678), "412 ms");
    EXPECT_EQ(duration(1'500'000'000), "1.50 s");
    EXPECT_EQ(duration(119'000'000'000), "119 s");
    EXPECT_EQ(duration(738'000'000'000), "12.3 min");
    EXPECT_EQ(duration(-41'234'567), "-41.2 ms");
}

TEST(NumberFormat, RoundsBeforeItChoosesTheUnit)
{
    EXPECT_EQ(duration(999'600), "1.00 ms");
    EXPECT_EQ(duration(999'400), "999 µs");
    EXPECT_EQ(formatBytes(999'999'999).toStdString(), "1.00 GB");
}

TEST(NumberFormat, GroupsThousands)
{
    EXPECT_EQ(formatCount(1'234'567).toStdString(), "1,234,567");
    EXPECT_EQ(formatSignificant(12'345).toStdString(), "12,300");
    EXPECT_EQ(formatSignificant(812).toStdString(), "812");
    EXPECT_EQ(formatSignificant(9.996).toStdString(), "10.0");
    EXPECT_EQ(formatSignificant(0.001234).toStdString(), "0.00123");
    EXPECT_EQ(formatSignificant(0).toStdString(), "0");
}

TEST(NumberFormat, NamesSharesRatiosRatesAndBytes)
{
    EXPECT_EQ(formatShare(0.612).toStdString(), "61.2 %");
    EXPECT_EQ(formatShare(1).toStdString(), "100 %");
    EXPECT_EQ(formatShare(0).toStdString(), "0.0 %");
    EXPECT_EQ(formatShare(0.0001).toStdString(), "< 0.1 %");
    EXPECT_EQ(formatRatio(1.4321).toStdString(), "1.43 ×");
    EXPECT_EQ(formatRate(812.4, "images").toStdString(), "812 images/s");
    EXPECT_EQ(formatBytes(512).toStdString(), "512 B");
    EXPECT_EQ(formatBytes(38'535'168).toStdString(), "38.5 MB");
    EXPECT_EQ(formatValue(1.8e9, "bytes").toStdString(), "1.80 GB");
    EXPECT_EQ(formatValue(0.612, "share").toStdString(), "61.2 %");
    EXPECT_EQ(formatValue(1.8e6, "bytes/s").toStdString(), "1.80 MB/s");
    EXPECT_EQ(formatValue(0.41, "").toStdString(), "0.410");
    EXPECT_EQ(formatUs(41'200).toStdString(), "41.2 ms");
}

TEST(NumberFormat, WritesWhatHasNoEndAsAPowerOfTen)
{
    EXPECT_EQ(formatSignificant(999'400).toStdString(), "999,000");
    EXPECT_EQ(formatSignificant(999'999).toStdString(), "1.00e+06");
    EXPECT_EQ(formatSignificant(1.2345e38).toStdString(), "1.23e+38");
    EXPECT_EQ(formatSignificant(-4.5e9).toStdString(), "-4.50e+09");
    EXPECT_EQ(formatSignificant(1.234e-30).toStdString(), "1.23e-30");
    EXPECT_EQ(formatSignificant(0.0000012).toStdString(), "0.00000120");
    // Counts are read digit by digit.
    EXPECT_EQ(formatRate(1'234'567, "tokens").toStdString(), "1,230,000 tokens/s");
    EXPECT_EQ(formatValue(2.5e7, "").toStdString(), "25,000,000");
    EXPECT_EQ(formatValue(1e38, "").toStdString(), "1.00e+38");
}

TEST(NumberFormat, SaysWhenThereIsNoNumber)
{
    EXPECT_EQ(formatSignificant(std::numeric_limits<double>::quiet_NaN()).toStdString(), "–");
    EXPECT_EQ(formatUs(std::numeric_limits<double>::infinity()).toStdString(), "–");
}

} // namespace
} // namespace app
