#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Means of batches of consecutive steps. Consecutive steps are correlated (clocks, caches, other programs), so
/// intervals from single steps would be too narrow: if there are enough steps, the standard error of the mean is
/// computed from eight batches of consecutive steps (Law, Simulation Modeling and Analysis, 9.5.3, batch means). Used
/// by the intervals of predictions and of comparisons of two runs.
namespace advisor {

inline constexpr std::size_t kBatches = 8;

/// Splits the values into eight batches of consecutive values, with the remainder in the last batch; returns each value
/// by itself if batches would be smaller than `least`.
/// @param values in the order of the steps
std::vector<std::vector<double>> batchesOfNeighbours(std::span<const double> values, std::size_t least);
/// The means of the batches, of at least two steps each.
std::vector<double> batchMeans(std::span<const double> values);

} // namespace advisor
