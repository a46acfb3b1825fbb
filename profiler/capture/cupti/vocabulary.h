#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/capture/recording_scope.h"
#include "profiler/model/activity.h"
#include "profiler/model/result.h"

#include <cupti.h>
#include <span>
#include <string>
#include <string_view>

/// What CUPTI's numbers mean to us: the kinds of records and calls that are recorded, the names of values in records,
/// and each status as an error.
namespace profiler::capture {

/// A kind of record: the levels at which it is recorded, and what the trace lacks without it.
struct CuptiKind {
    CUpti_ActivityKind kind;
    CaptureLevel from;
    std::string_view what;
    bool required = false; ///< without it, there is no GPU trace
    CaptureLevel to = CaptureLevel::Full;
};

/// In the order in which they are enabled.
std::span<const CuptiKind> cuptiKinds();

/// A runtime or driver call, by the number and name that CUPTI 13 uses.
struct CuptiCall {
    CUpti_CallbackId id;
    std::string_view name;
};
/// Runtime calls that only query state and would make up most of the records.
std::span<const CuptiCall> noisyRuntimeCalls();
/// Driver calls that launch work or wait for it. Libraries launch kernels through them, and some programs use nothing
/// else. Without these records, kernels and copies have no launch, and waits have no thread.
std::span<const CuptiCall> workingDriverCalls();
/// cuDriverGetVersion, which the source calls to check that records still reach it.
inline constexpr CuptiCall kProbeCall{CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, "cuDriverGetVersion"};

/// Whether the loaded library uses this number for the call: older libraries do not know the calls of CUDA 13.
bool isKnown(const CuptiApi& api, CUpti_CallbackDomain domain, const CuptiCall& call);

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

/// A CUPTI status as an Error: what it means for the recording, and what the user can do.
/// @param api        provides CUPTI's description of statuses for which we have none
/// @param doing      what was attempted: "start GPU tracing"
/// @param otherTool  name of the tool that uses CUPTI, if known
Error cuptiError(const CuptiApi& api, CUptiResult status, std::string_view doing, std::string_view otherTool = {});

} // namespace profiler::capture
