#pragma once

#include <cstdint>

namespace trainer {

/// Chooses the steps whose operators are recorded: a window near the start, after the warm-up of the first steps, one
/// window per period, and additional steps on request.
class OpWindow {
public:
    /// @param every  length of the period in steps; 0: only steps from request()
    /// @param length  steps per window
    OpWindow(std::int64_t every, std::int64_t length) : m_every(every), m_length(length) {}

    /// Records the next `steps` steps, starting with `next`.
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
    /// Number of batches recorded at the start of each validation pass.
    [[nodiscard]] std::int64_t validationBatches() const { return m_every == 0 ? 0 : m_length; }

private:
    // The first steps allocate memory and choose algorithms, so they are not representative of later steps.
    static constexpr std::int64_t kWarmup = 3;
    std::int64_t m_every, m_length, m_requestedUntil = 0;
};

} // namespace trainer
