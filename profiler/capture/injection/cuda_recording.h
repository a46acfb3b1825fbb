#pragma once

namespace profiler::capture::injection {

/// Starts CUPTI for this process, at the level that the variable asks for. Called by the CUDA driver before the
/// program's first CUDA call has an effect; once a process.
void recordCuda();

} // namespace profiler::capture::injection
