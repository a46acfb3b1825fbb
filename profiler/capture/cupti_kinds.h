#pragma once

#include "profiler/capture/cupti_source.h"

#include <cupti.h>
#include <span>
#include <string_view>

namespace profiler::capture {

/// A kind of record: from which level it is wanted, and what is missing without it.
struct CuptiKind {
    CUpti_ActivityKind kind;
    CuptiLevel from;
    std::string_view what;
    bool required = false; ///< without it there is no GPU trace
};

/// In the order in which they are enabled.
std::span<const CuptiKind> cuptiKinds();
/// Runtime calls that only ask for something and would be most of the records.
std::span<const CUpti_CallbackId> noisyRuntimeCalls();
/// Driver calls that give a device work, or wait for it, without the runtime: libraries launch kernels by them, and
/// some programs do all by them. Without them kernels and copies lack their launch, and waits their thread.
std::span<const CUpti_CallbackId> workingDriverCalls();

} // namespace profiler::capture
