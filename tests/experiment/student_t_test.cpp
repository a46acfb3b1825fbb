#include "advisor/prediction/confidence.h"

#include <gtest/gtest.h>

namespace advisor {
namespace {

struct Tabulated {
    double p, freedom, t;
};

// Source: table 26.10 of Abramowitz & Stegun (three decimals), with further digits computed with mpmath at 30 digits;
// the looks need the rows with p = 0.98895.
constexpr Tabulated kTable[] = {
    {0.975, 1, 12.706204736},    {0.975, 2, 4.3026527297},    {0.975, 5, 2.5705818356},   {0.95, 10, 1.8124611228},
    {0.995, 5, 4.0321429836},    {0.9995, 3, 12.923978637},   {0.975, 30, 2.0422724563},  {0.98895, 5, 3.2740238021},
    {0.98895, 11, 2.6621926876}, {0.98895, 19, 2.4922141629}, {0.98895, 2, 6.6147150741}, {0.75, 7, 0.71114177808},
    {0.975, 1000, 1.9623390808},
};

TEST(StudentT, QuantilesMatchTheTables)
{
    for (const auto& [p, freedom, t] : kTable) {
        EXPECT_NEAR(studentTQuantile(p, freedom), t, 1e-6 * t) << p << " " << freedom;
        EXPECT_NEAR(studentTQuantile(1 - p, freedom), -t, 1e-6 * t) << p << " " << freedom;
        EXPECT_NEAR(studentTCdf(t, freedom), p, 1e-9) << p << " " << freedom;
    }
}

TEST(StudentT, TheMedianIsZero)
{
    EXPECT_NEAR(studentTQuantile(0.5, 5), 0, 1e-12);
    EXPECT_DOUBLE_EQ(studentTCdf(0, 5), 0.5);
}

TEST(IncompleteBeta, HasItsKnownValues)
{
    EXPECT_DOUBLE_EQ(incompleteBeta(2, 3, 0), 0);
    EXPECT_DOUBLE_EQ(incompleteBeta(2, 3, 1), 1);
    EXPECT_NEAR(incompleteBeta(1, 1, 0.3), 0.3, 1e-14);          // uniform
    EXPECT_NEAR(incompleteBeta(2, 3, 0.4), 0.5248, 1e-13);       // P(Bin(4, 0.4) ≥ 2)
    EXPECT_NEAR(incompleteBeta(0.5, 0.5, 0.25), 1.0 / 3, 1e-13); // arcsine: 2/π asin √x
    EXPECT_NEAR(incompleteBeta(3, 2, 0.6), 1 - 0.5248, 1e-13);   // symmetry
}

} // namespace
} // namespace advisor
