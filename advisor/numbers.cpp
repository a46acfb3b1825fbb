#include "advisor/numbers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace advisor {

namespace {

/// Three significant digits without an exponent.
std::string threeDigits(double value)
{
    const double size = std::abs(value);
    const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}", value, decimals);
}

} // namespace

std::string timeText(double us)
{
    const double size = std::abs(us);
    if (size < 999.5)
        return threeDigits(us) + " µs";
    return size < 999.5e3 ? threeDigits(us / 1e3) + " ms" : threeDigits(us / 1e6) + " s";
}

std::string shareText(double share)
{
    return threeDigits(share * 100) + " %";
}

std::string countText(double count)
{
    return count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

} // namespace advisor
