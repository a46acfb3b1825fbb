#pragma once

namespace profiler::capture::injection {

/// Starts CUPTI for this process at the level given by the environment variable. Called by the CUDA driver, once per
/// process, before the program's first CUDA call takes effect.
void recordCuda();

} // namespace profiler::capture::injection
