#pragma once

#include "profiler/model/activity.h"

#include <cupti.h>
#include <string>
#include <string_view>

namespace profiler::capture {

/// @param kind  a CUpti_ActivityMemcpyKind. CUDA arrays count as memory of the side where they are.
CopyKind copyKind(unsigned kind);
/// @param kind  a CUpti_ActivityMemoryKind
MemoryKind memoryKind(unsigned kind);
/// "Pageable", as the PyTorch profiler writes it in the names of copies.
std::string_view memoryWord(MemoryKind kind);
std::string_view overheadName(CUpti_ActivityOverheadKind kind);
/// "Stream Sync"…, as in the PyTorch profiler.
std::string_view syncName(CUpti_ActivitySynchronizationType type);
/// "GPU-00112233-4455-6677-8899-aabbccddeeff", as printed by nvidia-smi.
std::string uuidText(const CUuuid& uuid);
/// A runtime or driver call without the version that CUPTI appends: "cudaLaunchKernel_ptsz_v7000" → "cudaLaunchKernel".
std::string_view callWithoutVersion(std::string_view name);

} // namespace profiler::capture
