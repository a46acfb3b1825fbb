#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/clock.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string_view>

namespace profiler::capture {

/// One thread's way into the trace: a ring in shared memory, one producer (the thread), one consumer (the writer
/// thread). Nothing here locks, allocates or does I/O, intern() excepted on the first sight of a string.
class ThreadBuffer {
public:
    /// Content-interned id, from a cache of this lane; `text` need not outlive the call.
    std::uint32_t intern(std::string_view text);
    /// The same for a text that is most often found at the same address, as literals are: no hash is taken then, but
    /// the text is compared, since an address may hold another one by now.
    std::uint32_t internAt(const char* text);

    /// From now on the nesting is found from the intervals by whoever reads: for a track on which ranges are told after
    /// what they contain. open() and close() still pair.
    void nestByIntervals();

    /// A range that is shown as open while it lasts (step, phase, wait). Nest properly; end with close().
    void open(ActivityKind kind, std::uint32_t name, std::int64_t value = 0);
    /// Where the thread is, by its open ranges: the outermost operator, the innermost phase and step.
    struct Place {
        std::uint32_t op = 0, phase = 0; ///< names; 0: outside of all
        std::int64_t step = -1;          ///< −1: outside of all
    };
    [[nodiscard]] Place place() const;
    /// The same for other threads, without the operator: those that work for this one are in its phase and step.
    [[nodiscard]] Place publishScope() const;
    /// Ends the innermost open(); returns its duration.
    Nanoseconds close(std::int64_t bytes = 0);

    /// Cheaper: nothing is written until the end: pop() writes one record.
    /// @param detail, types  string ids, 0: none (see wire::EventRecord::detail; types are an operator's only)
    /// @param owner  of a range that may end on another thread: an address that is no other range's while it lasts.
    /// Null:
    ///               pop() ends the innermost one of those
    void push(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint8_t flags = 0,
              std::uint32_t detail = 0, std::uint32_t types = 0, const void* owner = nullptr);
    void pop();
    /// Ends the range of that owner. @return false: it did not begin here, or not in this recording
    /// (Recorder::endCrossThread)
    bool popOwned(const void* owner);
    /// Something that takes no time: a slice of length 0 at the current nesting.
    void mark(ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint32_t detail = 0);

    /// A whole slice whose times are known. Depth is the current nesting.
    void complete(ActivityKind kind, std::uint32_t name, TraceTime begin, TraceTime end, std::int64_t link = 0,
                  std::int64_t bytes = 0, std::uint8_t flags = 0);
    /// A sample of a counter (Recorder::addCounter).
    void sample(std::uint32_t counter, TraceTime time, double value);

    struct Impl;
    /// For who has the most ranges: the same calls, inlined (thread_buffer_impl.h).
    [[nodiscard]] Impl& inlined() const { return *m; }

private:
    friend class Recorder;
    explicit ThreadBuffer(Impl* impl) : m(impl) {}
    Impl* m;
};

/// open() … close() for a scope.
class OpenRange {
public:
    OpenRange(ThreadBuffer* lane, ActivityKind kind, std::uint32_t name, std::int64_t value = 0) : m_lane(lane)
    {
        if (m_lane)
            m_lane->open(kind, name, value);
    }
    ~OpenRange()
    {
        if (m_lane)
            m_lane->close();
    }
    OpenRange(const OpenRange&) = delete;
    OpenRange& operator=(const OpenRange&) = delete;

private:
    ThreadBuffer* m_lane; ///< null: not recording
};

} // namespace profiler::capture
