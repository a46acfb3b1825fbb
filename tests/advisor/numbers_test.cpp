#include "advisor/numbers.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace advisor {
namespace {

TEST(Numbers, HaveThreeSignificantDigitsAndAUnit)
{
    EXPECT_EQ(timeText(0.123), "0.12 µs");
    EXPECT_EQ(timeText(8.125), "8.12 µs");
    EXPECT_EQ(timeText(41.24), "41.2 µs");
    EXPECT_EQ(timeText(999.4), "999 µs");
    EXPECT_EQ(timeText(999.6), "1.00 ms");
    EXPECT_EQ(timeText(41240), "41.2 ms");
    EXPECT_EQ(timeText(999600), "1.00 s");
    EXPECT_EQ(timeText(-500), "-500 µs");
    EXPECT_EQ(shareText(0.6), "60.0 %");
    EXPECT_EQ(shareText(1), "100 %");
    EXPECT_EQ(bytesText(-999), "-999 B");
    EXPECT_EQ(bytesText(-1000), "-1.00 kB");
    EXPECT_EQ(bytesText(std::numeric_limits<std::int64_t>::min()), "-9,223,372 TB");
    EXPECT_EQ(countText(3), "3");
    EXPECT_EQ(countText(2.54), "2.5");
}

TEST(Numbers, GroupThousands)
{
    EXPECT_EQ(countText(999), "999");
    EXPECT_EQ(countText(1000), "1,000");
    EXPECT_EQ(countText(12345678), "12,345,678");
    EXPECT_EQ(countText(-123456), "-123,456");
    EXPECT_EQ(countText(1234.5), "1,234.5");
    EXPECT_EQ(timeText(12'345e6), "12,345 s");
}

} // namespace
} // namespace advisor
