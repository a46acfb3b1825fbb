#pragma once

#include <cstdint>

namespace profiler::capture::injection {

/// What LibTorch reports when an operator starts (trainer/hooks/op_callbacks.h).
struct OpBegin {
    const char* name; ///< interned by content; may be freed after the call
    std::int64_t sequence;
    bool backward;
    bool annotation;    ///< a range named by the program, not an operator
    bool async;         ///< known to end on any thread
    const char* shapes; ///< shapes of the inputs; null if not requested
    const char* types;  ///< types of the inputs; null if not requested
    const void* owner;  ///< address that is passed again at the end
};

/// Records the operators of the LibTorch that the process has loaded, as reported by its callbacks
/// (trainer/hooks/python_ops.cpp, which calls these through C functions). Operators nest with NVTX ranges on their
/// thread's track. Thread-safe.
void beginOp(const OpBegin& op);
/// Ends the operator with that owner, on whichever thread it started.
void endOp(const void* owner);

} // namespace profiler::capture::injection
