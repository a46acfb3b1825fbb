#pragma once

#include "profiler/capture/injection/process_recording.h"
#include "profiler/model/clock.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the hooks in a Python program report: its ranges and loader stages (the Python module), and LibTorch's
/// operators.
namespace profiler::capture::injection {

/// Thread buffers identified by name, for the Python module: their numbers remain valid after a fork, and any thread
/// may use them (each call takes a lock; usually, Python's own lock is held as well).
class NamedBuffers {
public:
    /// Number of the buffer with this name and kind, which is created on first use.
    /// @param kind  TrackKind::Thread, MainThread or LoaderWorker as a number; other values mean Thread
    int buffer(std::string_view name, int kind);
    void open(int buffer, int kind, std::string_view name, std::int64_t value);
    void close(int buffer);
    /// Record the loader stages of one batch: reading its samples, collating them from the call of collateBegins() on,
    /// and, on a worker's track, the wait since the previous batch. They nest.
    void fetchBegins(int buffer);
    void collateBegins(int buffer);
    void fetchEnds(int buffer);
    void complete(int buffer, int kind, std::string_view name, TimeRange range, std::int64_t value);
    void sample(int buffer, std::string_view counter, std::string_view unit, double value, TraceTime time);

    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    struct Named {
        std::string name;
        TrackKind kind;
        std::uint64_t generation = 0;
        Recorder* recorder = nullptr; ///< recorder of the buffer; it may have ended
        ThreadBuffer* buffer = nullptr;
        int open = 0; ///< ranges of this recording that have not ended
        struct Fetch {
            TraceTime began, collating;
        };
        std::vector<Fetch> fetches{};       ///< fetches that have not ended
        std::optional<TraceTime> fetched{}; ///< when the previous fetch ended
        std::int64_t batch = 0;
    };
    /// Creates the buffer again in a forked child. Null if not recording, or if there is no such number. Requires the
    /// lock.
    Named* find(int buffer);

    std::mutex m_mutex; ///< held during a fork
    std::deque<Named> m_buffers;
};

/// The instance of this process; the C functions have only numbers to pass.
NamedBuffers& namedBuffers();

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
/// Ends the operator of this owner; another thread may have started it.
void endOp(const void* owner);

} // namespace profiler::capture::injection
