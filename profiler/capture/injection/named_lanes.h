#pragma once

#include "profiler/capture/injection/process_recording.h"
#include "profiler/model/clock.h"

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::capture::injection {

/// Tracks that are known by their names, for the Python module: numbers that stay good over a fork, and calls from any
/// thread (each takes a lock; Python's own is the usual one).
class NamedLanes {
public:
    /// @param kind  TrackKind::Thread, MainThread or LoaderWorker as a number; others are Thread
    int lane(std::string_view name, int kind);
    void open(int lane, int kind, std::string_view name, std::int64_t value);
    void close(int lane);
    /// Loader stages of one batch: reading its samples, putting it together from where collateBegins() comes, and, on
    /// the track of a worker, the wait for it since the batch before. They nest.
    void fetchBegins(int lane);
    void collateBegins(int lane);
    void fetchEnds(int lane);
    void complete(int lane, int kind, std::string_view name, TimeRange range, std::int64_t value);
    void sample(int lane, std::string_view counter, std::string_view unit, double value, TraceTime time);

    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    struct Named {
        std::string name;
        TrackKind kind;
        std::uint64_t generation = 0;
        Recorder* recorder = nullptr; ///< whose the lane is; it may have ended
        ThreadBuffer* lane = nullptr;
        int open = 0; ///< ranges of this recording that have not ended
        struct Fetch {
            TraceTime began, collating;
        };
        std::vector<Fetch> fetches{};       ///< that have not ended
        std::optional<TraceTime> fetched{}; ///< when the one before ended
        std::int64_t batch = 0;
    };
    /// Made anew in a forked child. Null: not recording, or no such number. The lock is held.
    Named* find(int lane);

    std::mutex m_mutex; ///< held over a fork
    std::deque<Named> m_lanes;
};

/// The process's: the C functions carry nothing but numbers.
NamedLanes& namedLanes();

} // namespace profiler::capture::injection
