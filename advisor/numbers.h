#pragma once

#include <cstdint>
#include <string>

namespace advisor {

/// Numbers as sentences have them: three significant digits, with a unit, thousands grouped.
std::string timeText(double us);           ///< "812 µs", "41.2 ms", "1.25 s"
std::string shareText(double share);       ///< "62.4 %"
std::string bytesText(std::int64_t bytes); ///< "812 B", "41.2 MB", in powers of 1000
std::string countText(double count);       ///< "3", "2.5", "12,345"

} // namespace advisor
