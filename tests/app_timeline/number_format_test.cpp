#include "app/look/display_text.h"

#include <gtest/gtest.h>

namespace app {
namespace {

// Number formats are tested in tests/profiler/number_text_test.cpp.

TEST(NumberFormat, IsTheOneOfTheTerminalAndTheReport)
{
    using profiler::Nanoseconds;
    EXPECT_EQ(formatDuration(Nanoseconds{41'234'567}).toStdString(), profiler::timeText(41'234.567));
    EXPECT_EQ(formatUs(41'234.567).toStdString(), profiler::timeText(41'234.567));
    EXPECT_EQ(formatPosition(Nanoseconds{12'345'678'901}).toStdString(), "12.345 678 901 s");
    EXPECT_EQ(formatBytes(38'535'168).toStdString(), profiler::bytesText(38'535'168));
    EXPECT_EQ(formatShare(0.612).toStdString(), profiler::shareText(0.612));
    EXPECT_EQ(formatCount(1'234'567).toStdString(), profiler::countText(1'234'567));
    EXPECT_EQ(formatSignificant(0.001234).toStdString(), profiler::significantText(0.001234));
}

TEST(NumberFormat, NamesRatiosRatesAndValues)
{
    EXPECT_EQ(formatRatio(1.4321).toStdString(), "1.43 ×");
    EXPECT_EQ(formatRate(812.4, "images").toStdString(), "812 images/s");
    EXPECT_EQ(formatValue(1.8e9, "bytes").toStdString(), "1.80 GB");
    EXPECT_EQ(formatValue(0.612, "share").toStdString(), "61.2 %");
    EXPECT_EQ(formatValue(1.8e6, "bytes/s").toStdString(), "1.80 MB/s");
    EXPECT_EQ(formatValue(203'000, "1/s").toStdString(), "203,000/s");
    EXPECT_EQ(formatValue(0.41, "").toStdString(), "0.410");
    EXPECT_EQ(formatCounted(1, "step", "steps").toStdString(), "1 step");
    EXPECT_EQ(formatCounted(1234, "step", "steps").toStdString(), "1,234 steps");
    // Counts show every digit.
    EXPECT_EQ(formatRate(1'234'567, "tokens").toStdString(), "1,230,000 tokens/s");
    EXPECT_EQ(formatValue(2.5e7, "").toStdString(), "25,000,000");
    EXPECT_EQ(formatValue(1e38, "").toStdString(), "1.00e+38");
}

TEST(NumberFormat, ALineDoesNotBreakBetweenANumberAndItsUnit)
{
    const auto kept = [](const char* text) { return withUnitsKept(QString::fromUtf8(text)).replace(QChar::Nbsp, '~'); };
    EXPECT_EQ(kept("3.18 % of it (13.0 ms of 30.0 µs) takes about 50 s.").toStdString(),
              "3.18~% of it (13.0~ms of 30.0~µs) takes about 50~s.");
    EXPECT_EQ(kept("1.43 × faster at 10.1 GB/s").toStdString(), "1.43~× faster at 10.1~GB/s");
    EXPECT_EQ(kept("6 of 12 copies, 484 operators, 3 steps").toStdString(), "6 of 12 copies, 484 operators, 3 steps");
}

} // namespace
} // namespace app
