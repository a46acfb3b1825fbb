#pragma once

#include <string>

/// What the kernel reports about this computer's processor (/proc/cpuinfo). The trainer writes it into its traces, and
/// experiments write it into their results, so that results from different machines can be told apart.
namespace profiler::os {

/// The model: "AMD EPYC 9654 96-Core Processor"; empty if the kernel does not report it.
std::string processorName();
/// Names of the instruction sets as listed by the kernel: "… avx512f … avx512_bf16 …"; empty if they are not listed.
std::string processorFlags();

} // namespace profiler::os
