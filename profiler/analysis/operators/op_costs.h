#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

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

} // namespace profiler::analysis
