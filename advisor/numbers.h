#pragma once

#include "profiler/model/number_text.h"

namespace advisor {

/// The product's one number formatter, under the names that the advisor uses.
using profiler::bytesText;
using profiler::countText;
using profiler::shareText;
using profiler::timeText;

} // namespace advisor
