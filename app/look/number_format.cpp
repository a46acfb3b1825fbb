#include "app/look/number_format.h"

#include <QLocale>
#include <cmath>

namespace app {

namespace {

const QLocale& english()
{
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale;
}

constexpr double kPlainAbove = 1e-6; ///< less would be mostly noughts

/// Rounds to three significant digits, so that 999.6 becomes 1,000 before its unit is chosen.
double rounded(double value)
{
    if (value == 0 || !std::isfinite(value))
        return value;
    const double power = std::pow(10.0, 2 - std::floor(std::log10(std::abs(value))));
    return std::round(value * power) / power;
}

struct Scale {
    double size;
    const char* name;
};

/// The largest unit of which there is at least one.
template <std::size_t N>
QString inUnits(double value, const Scale (&scales)[N])
{
    const double shown = std::abs(rounded(value));
    for (const Scale& scale : scales)
        if (shown >= scale.size)
            return formatSignificant(value / scale.size, kPlainCounts) + u' ' + QString::fromUtf8(scale.name);
    const Scale& smallest = scales[N - 1];
    return formatFixed(value / smallest.size, 0) + u' ' + QString::fromUtf8(smallest.name);
}

QString nsText(double ns)
{
    if (!std::isfinite(ns))
        return QStringLiteral("–");
    if (std::abs(ns) < 1000 && std::abs(rounded(ns)) < 1000)
        return formatFixed(ns, 0) + QStringLiteral(" ns");
    // From two minutes on, minutes read better than hundreds of seconds.
    if (std::abs(ns) >= 120e9)
        return formatSignificant(ns / 60e9, kPlainCounts) + QStringLiteral(" min");
    static constexpr Scale kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
    return inUnits(ns, kScales);
}

} // namespace

QString formatSignificant(double value, double plainBelow)
{
    if (!std::isfinite(value))
        return QStringLiteral("–");
    if (value == 0)
        return QStringLiteral("0");
    const double shown = rounded(value);
    if (std::abs(shown) >= plainBelow || std::abs(shown) < kPlainAbove)
        return QString::number(value, 'e', 2);
    const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(shown)) + 1e-12));
    return formatFixed(shown, std::max(0, 2 - magnitude));
}

QString formatFixed(double value, int decimals)
{
    return english().toString(value, 'f', decimals);
}

QString formatDuration(profiler::Nanoseconds duration)
{
    return nsText(static_cast<double>(duration.count()));
}

QString formatUs(double microseconds)
{
    return nsText(microseconds * 1000);
}

QString formatBytes(double bytes)
{
    if (std::abs(bytes) < 999.5)
        return formatFixed(bytes, 0) + QStringLiteral(" B");
    static constexpr Scale kScales[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
    return inUnits(bytes, kScales);
}

QString formatCount(std::int64_t count)
{
    return english().toString(static_cast<qlonglong>(count));
}

QString formatCounted(std::int64_t count, const QString& one, const QString& many)
{
    return formatCount(count) + u' ' + (count == 1 ? one : many);
}

QString formatShare(double share)
{
    const double percent = share * 100;
    if (percent > 0 && percent < 0.05)
        return QStringLiteral("< 0.1 %");
    return formatFixed(percent, percent >= 99.95 ? 0 : 1) + QStringLiteral(" %");
}

QString formatRatio(double ratio)
{
    return formatSignificant(ratio) + QStringLiteral(" ×");
}

QString formatRate(double perSecond, const QString& what)
{
    return formatSignificant(perSecond, kPlainCounts) + u' ' + what + QStringLiteral("/s");
}

QString formatValue(double value, const QString& unit)
{
    if (unit == QStringLiteral("bytes"))
        return formatBytes(value);
    if (unit == QStringLiteral("bytes/s"))
        return formatBytes(value) + QStringLiteral("/s");
    if (unit == QStringLiteral("share"))
        return formatShare(value);
    const QString text = formatSignificant(value, kPlainCounts);
    return unit.isEmpty() ? text : text + u' ' + unit;
}

} // namespace app
