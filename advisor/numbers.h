#pragma once

#include "profiler/model/number_text.h"

namespace advisor {

/// The product's one formatter, by the names that the advisor's sentences use.
using profiler::bytesText;
using profiler::countText;
using profiler::shareText;
using profiler::timeText;

} // namespace advisor
