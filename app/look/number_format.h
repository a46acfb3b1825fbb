#pragma once

#include "profiler/model/clock.h"

#include <QString>
#include <cstdint>

namespace app {

/// Numbers as people read them: three significant digits and a unit, never raw nanoseconds of something long. English
/// digits go with the app's English text; the figures are tabular where the font's are.

/// Where numbers of things, which are read digit by digit, turn into powers of ten.
constexpr double kPlainCounts = 1e12;

/// Three significant digits, thousands grouped: 41.2, 0.00123, 12,300; as 1.23e+08 from `plainBelow` on, and below a
/// millionth.
QString formatSignificant(double value, double plainBelow = 1e6);
/// So many decimals, thousands grouped.
QString formatFixed(double value, int decimals);
/// "41.2 ms", "850 ns", "1.50 s", "12.3 min".
QString formatDuration(profiler::Nanoseconds duration);
/// A duration given in µs, as the analyses have it.
QString formatUs(double microseconds);
/// "1.50 MB" (decimal units).
QString formatBytes(double bytes);
/// "1,234,567".
QString formatCount(std::int64_t count);
/// "1 step", "1,234 steps": a count with the word that goes with it.
QString formatCounted(std::int64_t count, const QString& one, const QString& many);
/// A share of one as "61.2 %"; "< 0.1 %" for what is little but not nothing.
QString formatShare(double share);
/// "1.43 ×".
QString formatRatio(double ratio);
/// "812 samples/s".
QString formatRate(double perSecond, const QString& what);
/// A counter's value in its unit: bytes become "1.50 MB", "" stays a number.
QString formatValue(double value, const QString& unit);

} // namespace app
