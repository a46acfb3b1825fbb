#pragma once

#include "profiler/model/trace.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// The device time of the operators of a trace: the durations of the kernels, copies and memsets that the CUDA calls
/// inside them launched, found by correlation id. Work that runs in parallel counts twice.
class OpDeviceTimes {
public:
    struct Times {
        Nanoseconds total{}; ///< launched inside the operator
        Nanoseconds self{};  ///< the same without what nested operators launched
        friend bool operator==(const Times&, const Times&) = default;
    };

    /// O(n log n) in the operators, calls and device work; do not call on the GUI thread.
    /// @param stop  after a stop request, some operators are missing
    explicit OpDeviceTimes(const Trace& trace, const std::stop_token& stop = {});

    /// None if the operator launched nothing, or if its work was not recorded. O(log n).
    [[nodiscard]] std::optional<Times> find(SliceId op) const;
    [[nodiscard]] bool empty() const { return m_ops.empty(); }

private:
    struct Entry {
        SliceId op;
        Times times;
    };
    std::vector<Entry> m_ops; ///< by id, those with device time
};

} // namespace profiler::analysis
