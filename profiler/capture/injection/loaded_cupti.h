#pragma once

#include "profiler/capture/cupti_api.h"
#include "profiler/model/result.h"

namespace profiler::capture::injection {

/// The CUPTI of the program: the copy that it has loaded already (PyTorch's), else one that the loader finds; version
/// 13 before 12. A second copy beside the program's would be another CUPTI, which sees nothing.
/// Fails where there is none, or it lacks a function that is needed. The result lives as long as the process.
const Result<const CuptiApi*>& loadedCupti();

} // namespace profiler::capture::injection
