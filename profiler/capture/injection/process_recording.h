#pragma once

#include "profiler/capture/recorder.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

/// The recording of the process into which the injection library was loaded. There is only one per process: the entry
/// points are plain C functions without context, so their state must be global, and it is all here.
namespace profiler::capture::injection {

/// A thread's state of the recording. No other thread accesses it.
struct ThreadState {
    struct Domain {
        ThreadBuffer* buffer = nullptr;
        int depth = 0;
    };
    std::uint64_t generation = 0;
    ThreadBuffer* buffer = nullptr; ///< null if this process is not recorded
    /// The recorder of the buffer, as long as there is one. It outlives its end; then it accepts events of calls that
    /// started before, but does not write them.
    Recorder* recorder = nullptr;
    int depth = 0;               ///< open ranges of NVTX's default domain
    std::vector<Domain> domains; ///< indexed by NvtxDomain::index
    struct {
        std::uint64_t key = 0; ///< what the text was built from; 0 if there is no text yet
        std::uint32_t text = 0;
    } lastDetail; ///< category and colour are usually the same as in the previous call
};

/// Increases whenever the cached state of threads becomes invalid: at the start, after a fork, at the end.
extern std::atomic<std::uint64_t> g_generation;

namespace detail {
/// The calling thread's cached state, with a direct pointer to its buffer.
struct CachedThread {
    std::uint64_t generation = 0;
    ThreadBuffer::Impl* buffer = nullptr; ///< buffer of `state`; null without one
    ThreadState* state = nullptr;
};
// Read in each call: the initial-exec model avoids the function call that thread-local variables of a library usually
// need. 24 bytes.
extern thread_local constinit CachedThread t_cached __attribute__((tls_model("initial-exec")));
ThreadState& refreshedThread();
} // namespace detail

/// The calling thread's state as of its last call; null if it is no longer valid.
inline const detail::CachedThread* cachedThread()
{
    const detail::CachedThread& known = detail::t_cached;
    return known.buffer && known.generation == g_generation.load(std::memory_order_relaxed) ? &known : nullptr;
}

/// The calling thread's state. Opens the process's trace file on first use; a forked child opens its own.
inline ThreadState& thisThread()
{
    const detail::CachedThread& known = detail::t_cached;
    return known.state && known.generation == g_generation.load(std::memory_order_relaxed) ? *known.state
                                                                                           : detail::refreshedThread();
}

/// The process's recorder, opened on first use. Null if no variable requests a recording, if it could not be created
/// (reported once on stderr), or if it has ended. Another thread may end it at any moment, but a pointer that a caller
/// holds stays valid.
Recorder* recorder();
/// True if a recording is requested but its window has not started yet: until then, recorder() is null.
bool isWaiting();
/// Called when the training loop of this process enters or leaves the steps to record: starts or ends the recording.
/// For processes that it forks, see followSteps(). Only with STEPSCOPE_STEPS.
void enterSteps();
void leaveSteps();
/// In a process that a training loop has forked, such as a loader worker: starts or ends its recording if the loop has
/// entered or left the steps since the last call. Cheap.
void followSteps();
/// True if the recording started with its window: ranges that end now may have started before it, unseen.
bool beganLate();
/// Adds metadata to the trace; while isWaiting(), it is stored until the trace is opened. Does nothing if nothing is
/// recorded.
void addMetadata(std::string_view key, std::string_view value);
/// Makes forked children leave the parent's recording alone. Called once, when the library is loaded.
void followForks();
/// Value of the environment variable; empty if it is not set.
std::string setting(const char* variable);
/// Ends the trace file properly; later events are not recorded. Called at exit; may be called more than once.
void end();
/// Call if memory runs out: recording of this process stops, but the program continues.
void stopForLackOfMemory() noexcept;

/// Runs `call` on behalf of a function of the program, NVTX or CUDA, and returns its result. If memory runs out, the
/// recording stops and zero is returned, because none of these callers expects an exception.
template <class Call>
auto stopOnBadAlloc(Call&& call) noexcept -> decltype(call())
{
    try {
        return call();
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
    return decltype(call())();
}

/// After end(): the next event opens another part, with the current values of the variables. Does nothing while the
/// process is being recorded.
void restart();
/// Calls `what` when a recorder has been created, before its first event (for CUPTI and metadata); again in a forked
/// child.
void atStart(void (*what)(Recorder&));
/// Calls `what` before the recorder ends.
void atEnd(void (*what)());

} // namespace profiler::capture::injection
