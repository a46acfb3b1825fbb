#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/clock.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

/// Buffers for the events of the threads that are recorded, which buffer a thread has, and what becomes of it when the
/// thread ends. thread_buffer_impl.h has the inlined calls.
namespace profiler::capture {

/// A thread's buffer for trace events: a ring in shared memory with one producer (the thread) and one consumer (the
/// writer thread). Its functions do not lock, allocate or do I/O, except that intern() does for new strings.
class ThreadBuffer {
public:
    /// Content-interned id, from a cache of this buffer; `text` may be freed after the call.
    std::uint32_t intern(std::string_view text);
    /// The same for a text that usually has the same address, like a literal: this avoids hashing. The text is still
    /// compared, because the address may hold a different text now.
    std::uint32_t internAt(const char* text);

    /// From now on, readers infer the nesting from the intervals: for a track on which ranges are reported after the
    /// ranges they contain. open() and close() still pair.
    void nestByIntervals();

    /// Starts a range that is shown as open while it lasts (step, phase, wait). Such ranges must nest properly; end
    /// them with close().
    void open(ActivityKind kind, std::uint32_t name, std::int64_t value = 0);
    /// Where the thread is, according to its open ranges: the outermost operator, the innermost phase and step.
    struct Place {
        std::uint32_t op = 0, phase = 0; ///< names; 0 if outside of any
        std::int64_t step = -1;          ///< −1 if outside of any
    };
    [[nodiscard]] Place place() const;
    /// The same for other threads, without the operator: threads that work for this one are in its phase and step.
    [[nodiscard]] Place publishScope() const;
    /// Ends the innermost open() and returns its duration.
    Nanoseconds close(std::int64_t bytes = 0);

    /// Cheaper than open(): nothing is written until pop(), which writes one record.
    /// @param detail, types  string ids, 0 for none (see container::EventRecord::detail; only operators have types)
    /// @param owner  for a range that may end on another thread: an address that no other range uses while it lasts. If
    ///               null, pop() ends the innermost range without an owner
    void push(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint8_t flags = 0,
              std::uint32_t detail = 0, std::uint32_t types = 0, const void* owner = nullptr);
    void pop();
    /// Ends the range with that owner.
    /// @return false if it did not start here, or not in this recording (see Recorder::endCrossThread)
    bool popOwned(const void* owner);
    /// Records an instant: a slice of length 0 at the current nesting depth.
    void mark(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint32_t detail = 0);

    /// Records a complete slice with known times, at the current nesting depth.
    void complete(ActivityKind kind, std::uint32_t name, TraceTime begin, TraceTime end, std::int64_t link = 0,
                  std::int64_t bytes = 0, std::uint8_t flags = 0);
    /// Records a sample of a counter (see Recorder::addCounter).
    void sample(std::uint32_t counter, TraceTime time, double value);

    struct Impl;
    /// The same calls, inlined, for callers with very many ranges (thread_buffer_impl.h).
    [[nodiscard]] Impl& inlined() const { return *m; }

private:
    friend class Recorder;
    explicit ThreadBuffer(Impl* impl) : m(impl) {}
    Impl* m;
};

/// Calls open() and close() for a scope.
class OpenRange {
public:
    OpenRange(ThreadBuffer* buffer, ActivityKind kind, std::uint32_t name, std::int64_t value = 0) : m_buffer(buffer)
    {
        if (m_buffer)
            m_buffer->open(kind, name, value);
    }
    ~OpenRange()
    {
        if (m_buffer)
            m_buffer->close();
    }
    OpenRange(const OpenRange&) = delete;
    OpenRange& operator=(const OpenRange&) = delete;

private:
    ThreadBuffer* m_buffer; ///< null if not recording
};

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
