#pragma once

#include <memory>
#include <string_view>

namespace profiler::capture {

/// Ranges in the NVTX domain "stepscope", for tools that listen (Nsight Systems, our injection library). Without such a
/// tool, each call only tests a pointer. Thread-safe; ranges nest per thread.
class NvtxRanges {
public:
    /// Creates the domain and registers the names of the phases (profiler::phase), so that push() passes a handle.
    NvtxRanges();
    ~NvtxRanges();
    NvtxRanges(const NvtxRanges&) = delete;
    NvtxRanges& operator=(const NvtxRanges&) = delete;

    /// @param name  a phase's name; any other text works too, but is copied
    void push(std::string_view name) const;
    void pop() const;

private:
    struct Names;
    std::unique_ptr<Names> m;
};

/// Calls push() and pop() for a scope.
class NvtxScope {
public:
    /// @param ranges  if null, does nothing
    NvtxScope(const NvtxRanges* ranges, std::string_view name) : m_ranges(ranges)
    {
        if (m_ranges)
            m_ranges->push(name);
    }
    ~NvtxScope()
    {
        if (m_ranges)
            m_ranges->pop();
    }
    NvtxScope(const NvtxScope&) = delete;
    NvtxScope& operator=(const NvtxScope&) = delete;

private:
    const NvtxRanges* m_ranges;
};

} // namespace profiler::capture
