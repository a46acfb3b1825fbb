#pragma once

#include "profiler/capture/thread_buffer.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace profiler::capture {

/// Buffers of threads that have ended, for reuse by later threads. Outlives its recorder as long as a thread has an
/// entry for it.
class ReleasedBuffers {
public:
    void release(ThreadBuffer* buffer);
    /// Removes the buffer; returns false if it is not there.
    bool take(const ThreadBuffer* buffer);
    [[nodiscard]] std::vector<ThreadBuffer*> list() const;

private:
    mutable std::mutex m_mutex;
    std::vector<ThreadBuffer*> m_buffers;
};

/// The calling thread's buffer of a recorder; null if it has none.
/// @param recorder  unique number of the recorder: numbers are never reused in a process, so a destroyed recorder is
///                  never found
ThreadBuffer* bufferOfThisThread(std::uint64_t recorder);
/// Remembers the buffer. When the thread ends, the buffer goes to `released`.
/// @return false if the thread is already ending and cannot remember it
bool setBufferOfThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released);
/// Remembers an additional buffer, only so that it goes to `released` when the thread ends.
/// @return false if the thread is already ending
bool keepBufferForThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released);
/// Call in the child after a fork: its only thread has entries for buffers of the parent's recorder, which it must
/// neither write to nor release.
void forgetBuffersOfThisThread();

} // namespace profiler::capture
