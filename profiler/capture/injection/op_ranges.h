#pragma once

#include <cstdint>

namespace profiler::capture::injection {

/// Operators of the LibTorch that the process has loaded, as its callbacks tell of them (trainer/hooks/python_ops.cpp,
/// which calls these through C functions). They nest with NVTX's ranges on their thread's track. Any thread.
/// @param name  interned by content; need not outlive the call
/// @param annotation  a range that the program names itself, no operator
/// @param shapes, types  of the inputs; null: not asked for
void beginOp(const char* name, std::int64_t sequence, bool backward, bool annotation, const char* shapes,
             const char* types);
/// Ends the calling thread's innermost range.
void endOp();

} // namespace profiler::capture::injection
