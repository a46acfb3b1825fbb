#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/model/result.h"

namespace profiler::capture::injection {

/// The program's CUPTI: the copy that it has already loaded (PyTorch's), or else one that the dynamic loader finds;
/// version 13 is preferred to 12. A second copy in the process would be a separate CUPTI that sees nothing. Fails if
/// there is no CUPTI, or if it lacks a required function. The result is valid as long as the process runs.
const Result<const CuptiApi*>& loadedCupti();

} // namespace profiler::capture::injection
