#pragma once

#include "profiler/job/open_job.h"

#include <QString>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace app {

/// Texts about jobs that several views share.

/// "0, 2–7, 9": numbers of ranks or steps, ascending.
/// @param mostParts  further ones are counted: "0, 2–7 and 3 more"
QString formatNumbers(std::span<const std::int64_t> numbers,
                      std::size_t mostParts = std::numeric_limits<std::size_t>::max());
/// "slow loader".
QString causeText(profiler::analysis::StragglerCause cause);
/// "every step", "step 12", "steps 12, 14", "every step, all ranks of node1".
QString scopeText(const profiler::job::Job& job, const profiler::analysis::Straggler& straggler);
/// "data parallel".
QString groupRoleText(profiler::analysis::GroupRole role);
/// "all-reduce".
QString collectiveText(profiler::analysis::CollectiveKind kind);

} // namespace app
