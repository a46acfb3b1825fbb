#pragma once

#include <cstdint>

namespace trainer {

/// Which steps have their operators recorded: a window near the start, after the first steps' warm-up, one window of
/// every so many steps, and whatever is asked for in between.
class OpWindow {
public:
    /// @param every  length of the period in steps; 0: only what request() asks for
    /// @param length  steps of a window
    OpWindow(std::int64_t every, std::int64_t length) : m_every(every), m_length(length) {}

    /// Records the next `steps` steps from `next` on.
    void request(std::int64_t next, std::int64_t steps) { m_requestedUntil = next + steps; }
    [[nodiscard]] bool contains(std::int64_t step) const
    {
        if (step < m_requestedUntil)
            return true;
        if (m_every == 0)
            return false;
        const bool first = step >= kWarmup && step < kWarmup + m_length;
        return first || (step >= m_every && step % m_every < m_length);
    }
    /// Batches at the beginning of each validation pass that are recorded.
    [[nodiscard]] std::int64_t validationBatches() const { return m_every == 0 ? 0 : m_length; }

private:
    // The first steps allocate and choose algorithms: they say nothing about the steps after them.
    static constexpr std::int64_t kWarmup = 3;
    std::int64_t m_every, m_length, m_requestedUntil = 0;
};

} // namespace trainer
