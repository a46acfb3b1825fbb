#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// One operator within one phase, over the steps in which ops were recorded.
struct OpCost {
    std::string name;  ///< "aten::convolution"
    std::string phase; ///< name of the enclosing phase; "" outside
    std::int64_t count = 0;
    double countPerStep = 0; ///< validation: per validation pass
    double selfUsPerStep = 0, totalUsPerStep = 0;
    SliceId longest;
};

struct OpCosts {
    std::int64_t stepsWithOps = 0; ///< 0: ops were not recorded
    std::vector<OpCost> ops;       ///< by self time, largest first

    [[nodiscard]] const OpCost* find(std::string_view name, std::string_view phase) const;
};

/// Self times by nesting on each host thread of the steps' process, loader workers excepted. Steady steps count where
/// any has ops, else all that have. The phase is the innermost around the op on its own thread, else what the steps'
/// thread is in when the op begins; an op anywhere inside a validation belongs to "validation". An op inside one of its
/// own name, as PyTorch before 1.9 records each dispatch of it, adds to self time only.
OpCosts opCosts(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
