#include "trainer/hooks/op_callbacks.h"

#include <string_view>
#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/version.h> // before 2.10
#endif

/// A separate library for Python's LibTorch: the trainer's callbacks, which forward operators to the C functions of the
/// injection library. The Python module loads it only if the program's LibTorch is the one that it was built for,
/// because it receives LibTorch's own objects. The file name contains that version.
#define STEPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

static_assert(std::string_view(TORCH_VERSION) == STEPSCOPE_TORCH_VERSION, "the file name contains the version");
static_assert(_GLIBCXX_USE_CXX11_ABI == 1, "the Python module expects a LibTorch with the C++11 ABI");

using Begin = void (*)(const char* name, std::int64_t sequence, int flags, const char* shapes, const char* types,
                       const void* owner);
using End = void (*)(const void* owner);

// Set before the callbacks are added and not changed while they are active.
Begin beginOp = nullptr;
End endOp = nullptr;
at::CallbackHandle handle = 0; // 0: off

struct IntoFunctions {
    static int flagsOf(const trainer::OpBegin& op)
    {
        return (op.backward ? 1 : 0) | (op.kind == profiler::ActivityKind::UserAnnotation ? 2 : 0) | (op.async ? 4 : 0);
    }
    static void begin(const trainer::OpBegin& op)
    {
        beginOp(op.name, op.sequence, flagsOf(op), nullptr, nullptr, op.owner);
    }
    static void begin(const trainer::OpBegin& op, const std::string& shapes, const std::string& types)
    {
        beginOp(op.name, op.sequence, flagsOf(op), shapes.c_str(), types.c_str(), op.owner);
    }
    static void end(const void* owner) { endOp(owner); }
};

} // namespace

/// Reports the operators of all threads from now on. @param begin, end  the injection library's functions
STEPSCOPE_EXPORT void stepscope_ops_on(Begin begin, End end, int shapes)
{
    if (handle != 0)
        return;
    beginOp = begin;
    endOp = end;
    handle = at::addGlobalCallback(trainer::OpCallbacks<IntoFunctions>::make(shapes != 0));
}

/// Stops reporting operators.
STEPSCOPE_EXPORT void stepscope_ops_off()
{
    if (handle != 0)
        at::removeCallback(handle);
    handle = 0;
}
