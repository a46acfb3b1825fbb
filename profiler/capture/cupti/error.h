#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/model/result.h"

#include <string_view>

namespace profiler::capture {

/// A CUPTI status as an Error: what it means for the recording, and what the user can do.
/// @param api        provides CUPTI's description of statuses for which we have none
/// @param doing      what was attempted: "start GPU tracing"
/// @param otherTool  name of the tool that uses CUPTI, if known
Error cuptiError(const CuptiApi& api, CUptiResult status, std::string_view doing, std::string_view otherTool = {});

} // namespace profiler::capture
