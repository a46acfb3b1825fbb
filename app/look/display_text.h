#pragma once

#include "profiler/model/number_text.h"

#include <QString>
#include <array>
#include <cstdint>
#include <string_view>

// Texts as the app shows them: those of the other modules as Qt strings, numbers with the product's common formatter
// (profiler/model/number_text.h), and short names of slices.
namespace app {

/// UTF-8 text of the other modules for Qt.
inline QString asQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

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
/// With a no-break space between each number and its unit, for texts that wrap: "13.0 ms", "43.2 %".
QString withUnitsKept(QString text);
/// "1.43 ×".
QString formatRatio(double ratio);
/// "812 samples/s".
QString formatRate(double perSecond, const QString& what);
/// A counter value with its unit: bytes become "1.50 MB", "1/s" becomes "/s", and "" adds nothing.
QString formatValue(double value, const QString& unit);

/// The informative part of the name of a slice, for labels; tooltips and copies have the full name.
/// - Kernels: the function without return type, namespaces, template arguments and parameters. ATen's generic kernels
///   are named after their operation: "add (vectorized)"; those of CUTLASS after their tile configuration.
/// - Operators: without "aten::".
/// - Python functions: "forward (net.py:12)" for "/home/me/net.py(12): forward".
/// - Modules: "Linear_0" for "nn.Module: Linear_0".
/// Other names stay as they are. O(length); thread-safe.
QString shortName(std::string_view name);

/// Only the rule for kernels: tables show operators, Python functions and modules with their full names. O(length);
/// thread-safe.
QString shortKernelName(std::string_view name);

} // namespace app
