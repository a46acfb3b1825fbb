#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// The time of operators: on the host, by phase, and on the devices.
namespace profiler::analysis {

/// One operator within one phase, over the steps that recorded ops.
struct OpCost {
    std::string name;  ///< "aten::convolution"
    std::string phase; ///< name of the enclosing phase; "" if there is none
    std::int64_t count = 0;
    double countPerStep = 0; ///< in validation: per validation pass
    double selfUsPerStep = 0, totalUsPerStep = 0;
    SliceId longest;
};

struct OpCosts {
    std::int64_t stepsWithOps = 0; ///< 0: ops were not recorded
    std::vector<OpCost> ops;       ///< by self time, largest first

    [[nodiscard]] const OpCost* find(std::string_view name, std::string_view phase) const;
};

/// Self times by nesting on each host thread of the steps' process, without loader workers. Uses the steady steps if
/// any of them has ops, otherwise all steps with ops. The phase is the innermost one around the op on its own thread,
/// otherwise the phase of the steps' thread when the op starts. Ops inside a validation belong to "validation". An op
/// inside another op of the same name adds only to the self time, because PyTorch before 1.9 records each dispatch of
/// an op.
OpCosts opCosts(const Trace& trace, const std::vector<Step>& steps);

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
