#pragma once

#include <cstdint>

namespace profiler::capture::injection {

/// What LibTorch tells of an operator when it begins (trainer/hooks/op_callbacks.h).
struct OpBegin {
    const char* name; ///< interned by content; need not outlive the call
    std::int64_t sequence;
    bool backward;
    bool annotation;    ///< a range that the program names itself, no operator
    bool async;         ///< it is known to end on whichever thread
    const char* shapes; ///< of the inputs; null: not asked for
    const char* types;  ///< the same
    const void* owner;  ///< what its end has too
};

/// Operators of the LibTorch that the process has loaded, as its callbacks tell of them (trainer/hooks/python_ops.cpp,
/// which calls these through C functions). They nest with NVTX's ranges on their thread's track. Any thread.
void beginOp(const OpBegin& op);
/// Ends the operator of that owner, wherever it began.
void endOp(const void* owner);

} // namespace profiler::capture::injection
