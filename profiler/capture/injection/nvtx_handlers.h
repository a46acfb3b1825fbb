#pragma once

#include <nvtx3/nvToolsExt.h>

namespace profiler::capture::injection {

/// Puts our handlers into the function tables of the NVTX in a program; once for each copy of NVTX in a process.
/// @return false if there are no such tables
bool attachNvtx(NvtxGetExportTableFunc_t exportTable);

/// If enabled, ranges of NVTX's default domain whose names are LibTorch operators are recorded as operators.
void takeOperatorsFromNvtx(bool take);

} // namespace profiler::capture::injection
