#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::capture {

/// What is allocated on one device, by what took it, and how it was at its largest. Thread-safe; one lock for a look-up.
class AllocationLedger {
public:
    /// @param by  string id of what took it: an operator, a phase; 0: not known
    void taken(const void* at, std::int64_t bytes, std::uint32_t by);
    /// Memory that was taken before the recording is not known, and changes nothing.
    void given(const void* at);

    /// What was alive when most was, largest first.
    struct Peak {
        std::int64_t bytes = 0;
        std::vector<std::pair<std::uint32_t, std::int64_t>> alive; ///< by what took it, bytes
    };
    /// A peak is written down once it is a hundredth above the one before: within that it is what is given.
    [[nodiscard]] Peak peak() const;
    /// What is alive now, in the same form: when memory has run out.
    [[nodiscard]] Peak now() const;
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct Block {
        std::int64_t bytes;
        std::uint32_t by;
    };
    [[nodiscard]] Peak sorted(std::int64_t bytes, const std::unordered_map<std::uint32_t, std::int64_t>& by) const;

    mutable std::mutex m_mutex;
    std::unordered_map<const void*, Block> m_blocks;
    std::unordered_map<std::uint32_t, std::int64_t> m_alive; ///< bytes by what took them
    std::int64_t m_bytes = 0, m_peakBytes = 0, m_noted = 0;
    std::unordered_map<std::uint32_t, std::int64_t> m_atPeak;
};

} // namespace profiler::capture
