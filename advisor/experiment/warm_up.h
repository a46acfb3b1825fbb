#pragma once

#include "advisor/experiment/trainer_arm.h"

#include <array>
#include <span>

namespace advisor {

/// Turns of both arms, alternately, until each arm's last two took the same time within a tenth: first steps pay for
/// memory, libraries and caches. Ends when an arm has worked for about three seconds: what is not steady then never
/// will be. Both do the same number of steps, so that they stay at the same batches.
/// @param what  "steps", "epoch", "validation"
/// @param drop  steps that do not count at the start of each turn
/// @return seconds of one step (epoch, validation) in each arm
Outcome<std::array<double, 2>> warmUp(std::span<TrainerArm> arms, const std::string& what, std::int64_t drop,
                                      const Bounds& bounds);

/// Steps (epochs, validations) of a turn that lasts about `turn`; at least five steps.
std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::milliseconds turn);

/// The first steps of a process may take this long: libraries are loaded and kernels chosen.
inline constexpr std::chrono::seconds kFirstPatience{600};
/// An answer to a turn of so much work may take this long before it counts as a hang.
std::chrono::seconds patienceFor(double expectedSeconds);

} // namespace advisor
