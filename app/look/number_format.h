#pragma once

#include "profiler/model/number_text.h"

#include <QString>
#include <array>
#include <cstdint>

namespace app {

/// Number formatting for the app: the product's common formatter (profiler/model/number_text.h) with Qt strings.

using profiler::kPlainCounts;

inline QString formatSignificant(double value, double plainBelow = 1e6)
{
    return QString::fromStdString(profiler::significantText(value, plainBelow));
}
inline QString formatFixed(double value, int decimals)
{
    return QString::fromStdString(profiler::fixedText(value, decimals));
}
/// "41.2 ms": a duration.
inline QString formatDuration(profiler::Nanoseconds duration)
{
    return QString::fromStdString(profiler::durationText(duration));
}
/// A duration in µs, the unit of the analyses.
inline QString formatUs(double microseconds)
{
    return QString::fromStdString(profiler::timeText(microseconds));
}
/// "12.345 678 901 s": a position in time, from the start of the trace.
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
/// "(141, 2, 1)": the x, y and z sizes of a grid or block.
inline QString formatDimensions(const std::array<std::uint32_t, 3>& sizes)
{
    return QStringLiteral("(%1, %2, %3)").arg(sizes[0]).arg(sizes[1]).arg(sizes[2]);
}
/// "1 step", "1,234 steps": a count with its noun.
QString formatCounted(std::int64_t count, const QString& one, const QString& many);
/// "1.43 ×".
QString formatRatio(double ratio);
/// "812 samples/s".
QString formatRate(double perSecond, const QString& what);
/// A counter value with its unit: bytes become "1.50 MB", "1/s" becomes "/s", and "" adds nothing.
QString formatValue(double value, const QString& unit);

} // namespace app
