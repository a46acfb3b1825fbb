#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace profiler {
namespace {

constexpr const char* kNoNumber = "–";
/// In plain notation, smaller values would consist mostly of zeros.
constexpr double kPlainAbove = 1e-6;

std::string printed(double value, std::chars_format format, int digits)
{
    std::array<char, 512> text{}; // the largest double has 309 digits
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
    return {text.data(), end};
}

/// A value rounded to three significant digits, and the power of ten of its first digit. Rounding happens before the
/// unit is chosen: 999.6 µs becomes 1.00 ms.
struct Rounded {
    double value = 0;
    int power = 0;

    explicit Rounded(double exact)
    {
        const std::string text = printed(exact, std::chars_format::scientific, 2);
        const auto exponent = text.find('e');
        const bool plus = text[exponent + 1] == '+';
        std::from_chars(text.data() + exponent + (plus ? 2 : 1), text.data() + text.size(), power);
        std::from_chars(text.data(), text.data() + text.size(), value);
    }
};

/// Three significant digits without an exponent.
std::string threeDigits(double value)
{
    const Rounded rounded{value};
    return fixedText(rounded.value, std::max(0, 2 - rounded.power));
}

struct Unit {
    double size;
    const char* name;
};

/// The value in the largest unit in which it is at least one.
template <std::size_t N>
std::string inUnits(double value, const Unit (&units)[N])
{
    const double shown = std::abs(Rounded{value}.value);
    const auto* unit = std::find_if(std::begin(units), std::end(units), [&](const Unit& u) { return shown >= u.size; });
    if (unit == std::end(units))
        --unit;
    return threeDigits(value / unit->size) + ' ' + unit->name;
}

std::string nsText(double ns)
{
    if (!std::isfinite(ns))
        return kNoNumber;
    const double shown = std::abs(Rounded{ns}.value);
    if (shown < 1000)
        return fixedText(ns, 0) + " ns";
    // From two minutes on, minutes are easier to read than hundreds of seconds.
    if (shown >= 120e9)
        return threeDigits(ns / 60e9) + " min";
    static constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
    return inUnits(ns, kUnits);
}

} // namespace

std::string detail::groupedText(std::string digits)
{
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = std::min(digits.find('.'), digits.size()); at > first + 3; at -= 3)
        digits.insert(at - 3, 1, ',');
    return digits;
}

std::string durationText(Nanoseconds duration)
{
    return nsText(static_cast<double>(duration.count()));
}

std::string timeText(double us)
{
    return nsText(us * 1000);
}

std::string positionText(Nanoseconds sinceStart, int decimals)
{
    const std::int64_t ns = sinceStart.count();
    // The smallest integer has no absolute value in its own type.
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    std::string text = (ns < 0 ? "-" : "") + countText(size / kSecond);
    std::string rest = std::to_string(kSecond + size % kSecond).substr(1); // with leading zeros
    rest.resize(static_cast<std::size_t>(std::clamp(decimals, 0, kPositionDecimals)));
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (i % 3 == 0)
            text += i == 0 ? '.' : ' ';
        text += rest[i];
    }
    return text + " s";
}

std::string shareText(double share)
{
    if (!std::isfinite(share))
        return kNoNumber;
    const double percent = share * 100;
    if (percent == 0)
        return "0 %";
    if (percent > 0 && percent < 0.005)
        return "< 0.01 %";
    // Differences below a hundredth of a percent do not matter to anybody.
    const Rounded rounded{percent};
    return fixedText(rounded.value, std::clamp(2 - rounded.power, 0, 2)) + " %";
}

std::string bytesText(double bytes)
{
    if (!std::isfinite(bytes))
        return kNoNumber;
    if (std::abs(bytes) < 999.5)
        return fixedText(bytes, 0) + " B";
    static constexpr Unit kUnits[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
    return inUnits(bytes, kUnits);
}

std::string significantText(double value, double plainBelow)
{
    if (!std::isfinite(value))
        return kNoNumber;
    if (value == 0)
        return "0";
    const Rounded rounded{value};
    const double size = std::abs(rounded.value);
    if (size >= plainBelow || size < kPlainAbove)
        return printed(value, std::chars_format::scientific, 2);
    return threeDigits(value);
}

std::string fixedText(double value, int decimals)
{
    if (!std::isfinite(value))
        return kNoNumber;
    std::string text = printed(value, std::chars_format::fixed, decimals);
    if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos)
        text.erase(0, 1); // avoid "-0"
    return detail::groupedText(std::move(text));
}

std::string countText(double count)
{
    return fixedText(count, count == std::floor(count) ? 0 : 1);
}

} // namespace profiler
