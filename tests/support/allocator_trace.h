#pragma once

#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

/// A trace like that of a PyTorch memory snapshot of GPU 0, with one event per microsecond from 1 µs on.
class AllocatorTrace {
public:
    AllocatorTrace();

    /// @param stack  frames "file:line function", one per line, the innermost first
    AllocatorTrace& event(const std::string& action, std::uint64_t address, std::int64_t bytes,
                          const std::string& stack = {});
    AllocatorTrace& alloc(std::uint64_t address, std::int64_t bytes, const std::string& stack = {})
    {
        return event("alloc", address, bytes, stack);
    }
    AllocatorTrace& free(std::uint64_t address, std::int64_t bytes, const std::string& stack = {})
    {
        return event("free_requested", address, bytes, stack);
    }
    /// The metadata that describes the segments at the end.
    AllocatorTrace& segments(const std::string& lines);
    /// Totals before the first event.
    AllocatorTrace& before(double allocated, double reserved);
    /// Call once.
    std::shared_ptr<const profiler::Trace> trace();

private:
    class Stacks;

    profiler::TraceBuilder m_builder;
    std::shared_ptr<Stacks> m_stacks;
    std::vector<profiler::RawSlice> m_slices;
    std::string m_segments = "none";
    std::pair<double, double> m_before;
    std::int64_t m_us = 0;
};

} // namespace test_support
