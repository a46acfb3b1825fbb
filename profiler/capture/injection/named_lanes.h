#pragma once

#include "profiler/capture/injection/process_recording.h"
#include "profiler/model/clock.h"

#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace profiler::capture::injection {

/// Tracks that are known by their names, for the Python module: numbers that stay good over a fork, and calls from any
/// thread (each takes a lock; Python's own is the usual one).
class NamedLanes {
public:
    /// @param kind  TrackKind::Thread, MainThread or LoaderWorker as a number; others are Thread
    int lane(std::string_view name, int kind);
    void open(int lane, int kind, std::string_view name, std::int64_t value);
    void close(int lane);
    void complete(int lane, int kind, std::string_view name, TimeRange range, std::int64_t value);
    void sample(int lane, std::string_view counter, std::string_view unit, double value);

    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    struct Named {
        std::string name;
        TrackKind kind;
        std::uint64_t generation = 0;
        HostLane* lane = nullptr;
        int open = 0; ///< ranges of this recording that have not ended
    };
    /// Made anew in a forked child. Null: not recording, or no such number. The lock is held.
    Named* find(int lane);

    std::mutex m_mutex; ///< held over a fork
    std::deque<Named> m_lanes;
};

/// The process's: the C functions carry nothing but numbers.
NamedLanes& namedLanes();

} // namespace profiler::capture::injection
