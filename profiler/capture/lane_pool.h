#pragma once

#include "profiler/capture/thread_buffer.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace profiler::capture {

/// Lanes whose threads have ended, for threads to come. Outlives its recorder while a thread still knows a lane.
class ReleasedLanes {
public:
    void release(ThreadBuffer* lane);
    /// Takes the lane out; false when it is not there.
    bool take(const ThreadBuffer* lane);
    [[nodiscard]] std::vector<ThreadBuffer*> list() const;

private:
    mutable std::mutex m_mutex;
    std::vector<ThreadBuffer*> m_lanes;
};

/// The calling thread's lane of a recorder; null when it has none.
/// @param recorder  number of the recorder, never used twice in a process: a destroyed one is never found
ThreadBuffer* laneOfThisThread(std::uint64_t recorder);
/// Remembers it. When the thread ends, the lane goes to `released`.
/// @return false when the thread is ending already and cannot remember
bool setLaneOfThisThread(std::uint64_t recorder, ThreadBuffer* lane, std::weak_ptr<ReleasedLanes> released);
/// Remembers a further lane only so that it goes to `released` when the thread ends.
/// @return false when the thread is ending already
bool keepLaneForThisThread(std::uint64_t recorder, ThreadBuffer* lane, std::weak_ptr<ReleasedLanes> released);
/// After a fork, in the child: its one thread knows lanes of the parent's recorder, which it must neither write to nor
/// release.
void forgetLanesOfThisThread();

} // namespace profiler::capture
