#pragma once

#include "profiler/capture/recorder.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

/// The recording of the process that the injection library was loaded into. There is one a process: the entry points
/// are plain C functions that carry nothing, so what they need is global here, and only here.
namespace profiler::capture::injection {

/// What a thread knows of the recording. Its own; no other thread touches it.
struct ThreadState {
    struct Domain {
        ThreadBuffer* lane = nullptr;
        int depth = 0;
    };
    std::uint64_t generation = 0;
    ThreadBuffer* lane = nullptr; ///< null: this process is not recorded
    /// Whose the lane is, as long as there is one. It is never destroyed; once it has ended it takes what a call that
    /// began before still has to say, and writes nothing of it.
    Recorder* recorder = nullptr;
    int depth = 0;               ///< open ranges of NVTX's default domain
    std::vector<Domain> domains; ///< by Domain::index
    struct {
        std::uint64_t key = 0; ///< what the text was made of; 0: nothing yet
        std::uint32_t text = 0;
    } lastDetail; ///< category and colour are most often those of the call before
};

/// Goes up whenever what threads know is no longer so: at the beginning, after a fork, at the end.
extern std::atomic<std::uint64_t> g_generation;

namespace detail {
/// What the calling thread knows, without a pointer to follow on the way to its lane.
struct Known {
    std::uint64_t generation = 0;
    ThreadBuffer::Impl* lane = nullptr; ///< of state->lane; null without one
    ThreadState* state = nullptr;
};
// Read at each call: initial-exec spares the call that a library's thread-local variables cost else. 24 bytes.
extern thread_local constinit Known t_known __attribute__((tls_model("initial-exec")));
ThreadState& refreshedThread();
} // namespace detail

/// The calling thread's lane and state as they were at its last call; null when they are no longer good.
inline const detail::Known* knownThread()
{
    const detail::Known& known = detail::t_known;
    return known.lane && known.generation == g_generation.load(std::memory_order_relaxed) ? &known : nullptr;
}

/// The calling thread's state. Opens the process's trace file on first use, in a forked child its own.
inline ThreadState& thisThread()
{
    const detail::Known& known = detail::t_known;
    return known.state && known.generation == g_generation.load(std::memory_order_relaxed) ? *known.state
                                                                                           : detail::refreshedThread();
}

/// The process's recorder, opened on first use. Null: no variable asks for a recording, it could not be made (said once
/// on stderr), or it has ended: by another thread at any moment, so whoever holds one goes on with that one.
Recorder* recorder();
/// True while the recording is asked for and its window has not begun: recorder() is null until then.
bool isWaiting();
/// True where the recording began at a time of its own: what ends then may have begun before, unseen.
bool beganLate();
/// A fact for the trace; kept for it while isWaiting(). Nothing where nothing is recorded.
void tell(std::string_view key, std::string_view value);
/// Has forked children leave the parent's recording alone. Once, when the library is loaded.
void followForks();
/// True after a recording was made and has not ended, without making one.
bool isRecording();
/// The variable as it was when the library was loaded; empty where there is none.
std::string setting(const char* variable);
/// Ends the trace file well. What the program does later is not recorded. Called at exit; more than once does no harm.
void end();
/// Call where memory ran out: this process is not recorded any further, and the program goes on.
void stopForLackOfMemory() noexcept;

/// Runs `call`, which a function of the program, NVTX or CUDA has asked for, and returns what it returns. Where memory
/// runs out in it, the recording stops and a zero is returned: none of their callers expects an exception.
template <class Call>
auto unlessMemoryLacks(Call&& call) noexcept -> decltype(call())
{
    try {
        return call();
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
    return decltype(call())();
}

/// After end(): the next event opens another part, with the variables that are in force then. Does nothing while the
/// process is recorded.
void restart();
/// `what` is done once a recorder was made, before its first event (CUPTI, metadata); in a forked child again.
void atStart(void (*what)(Recorder&));
/// `what` is done before the recorder ends.
void atEnd(void (*what)());

} // namespace profiler::capture::injection
