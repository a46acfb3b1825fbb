#pragma once

#include <nvtx3/nvToolsExt.h>

namespace profiler::capture::injection {

/// Puts our handlers into the tables of an NVTX that a program carries; once for each copy of NVTX in a process.
/// @return whether there were tables to put them into
bool attachNvtx(NvtxGetExportTableFunc_t exportTable);

/// Ranges of NVTX's default domain whose names are LibTorch's operators become operators.
void takeOperatorsFromNvtx(bool take);

} // namespace profiler::capture::injection
