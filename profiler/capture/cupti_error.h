#pragma once

#include "profiler/capture/cupti_api.h"
#include "profiler/model/result.h"

#include <string_view>

namespace profiler::capture {

/// A status of CUPTI as an Error: what it means for the recording, and what the user can do.
/// @param api        gives CUPTI's own words for statuses that have none of ours
/// @param doing      what was tried: "start GPU tracing"
/// @param otherTool  name of the tool that holds CUPTI, where it is known
Error cuptiError(const CuptiApi& api, CUptiResult status, std::string_view doing, std::string_view otherTool = {});

} // namespace profiler::capture
