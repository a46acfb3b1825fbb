#include "advisor/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

namespace advisor {

namespace {

/// So many decimals, a comma after each three digits before them.
std::string grouped(double value, int decimals)
{
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (!std::isfinite(value))
        return text;
    const std::size_t first = text.front() == '-' ? 1 : 0;
    for (std::size_t at = std::min(text.find('.'), text.size()); at > first + 3; at -= 3)
        text.insert(at - 3, 1, ',');
    return text;
}

/// Three significant digits without an exponent.
std::string threeDigits(double value)
{
    const double size = std::abs(value);
    return grouped(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
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

std::string bytesText(std::int64_t bytes)
{
    constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
    if (bytes > -1000 && bytes < 1000) // the least number has no absolute value
        return std::to_string(bytes) + " B";
    double size = static_cast<double>(bytes) / 1e3;
    std::size_t unit = 0;
    for (; std::abs(size) >= 999.5 && unit + 1 < std::size(kUnits); ++unit)
        size /= 1e3;
    return threeDigits(size) + " " + kUnits[unit];
}

std::string countText(double count)
{
    return grouped(count, count == std::floor(count) ? 0 : 1);
}

} // namespace advisor
