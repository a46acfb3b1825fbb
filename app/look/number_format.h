#pragma once

#include "profiler/model/number_text.h"

#include <QString>
#include <cstdint>

namespace app {

/// Numbers for the app's texts: the product's one formatter (profiler/model/number_text.h) with Qt's strings.

using profiler::kPlainCounts;

inline QString formatSignificant(double value, double plainBelow = 1e6)
{
    return QString::fromStdString(profiler::significantText(value, plainBelow));
}
inline QString formatFixed(double value, int decimals)
{
    return QString::fromStdString(profiler::fixedText(value, decimals));
}
/// "41.2 ms": how long something takes.
inline QString formatDuration(profiler::Nanoseconds duration)
{
    return QString::fromStdString(profiler::durationText(duration));
}
/// A duration in µs, as the analyses have it.
inline QString formatUs(double microseconds)
{
    return QString::fromStdString(profiler::timeText(microseconds));
}
/// "12.345 678 901 s": when something is, from the start of the trace.
inline QString formatPosition(profiler::Nanoseconds sinceStart, int decimals = profiler::kPositionDecimals)
{
    return QString::fromStdString(profiler::positionText(sinceStart, decimals));
}
inline QString formatBytes(double bytes)
{
    return QString::fromStdString(profiler::bytesText(bytes));
}
inline QString formatCount(std::int64_t count)
{
    return QString::fromStdString(profiler::countText(count));
}
inline QString formatShare(double share)
{
    return QString::fromStdString(profiler::shareText(share));
}
/// "1 step", "1,234 steps": a count with the word that goes with it.
QString formatCounted(std::int64_t count, const QString& one, const QString& many);
/// "1.43 ×".
QString formatRatio(double ratio);
/// "812 samples/s".
QString formatRate(double perSecond, const QString& what);
/// A counter's value in its unit: bytes become "1.50 MB", "" stays a number.
QString formatValue(double value, const QString& unit);

} // namespace app
