#pragma once

#include <string>

/// What the kernel says of this computer's processor (/proc/cpuinfo). The trainer writes it into its traces, and an
/// experiment into its results, so that results of another machine can be told apart.
namespace profiler::os {

/// The model: "AMD EPYC 9654 96-Core Processor"; empty where the kernel does not name it.
std::string processorName();
/// Names of its instruction sets as the kernel lists them: "… avx512f … avx512_bf16 …"; empty where it does not.
std::string processorFlags();

} // namespace profiler::os
