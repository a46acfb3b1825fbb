#pragma once

#include "profiler/capture/cupti/api.h"
#include "profiler/capture/cupti/source.h"

#include <span>
#include <string_view>

namespace profiler::capture {

/// A kind of record: the levels at which it is recorded, and what the trace lacks without it.
struct CuptiKind {
    CUpti_ActivityKind kind;
    CuptiLevel from;
    std::string_view what;
    bool required = false; ///< without it, there is no GPU trace
    CuptiLevel to = CuptiLevel::Full;
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

} // namespace profiler::capture
