#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Means of batches of neighbouring steps. Steps that follow each other resemble each other (clocks, caches, other
/// programs), so single steps promise more than they know: where there are enough of them, the spread of a mean is
/// taken from eight batches of neighbours (Law, Simulation Modeling and Analysis, 9.5.3, batch means). Used by the
/// intervals of predictions and of comparisons of two runs.
namespace advisor {

inline constexpr std::size_t kBatches = 8;

/// Eight runs of neighbours, what does not fill a batch added to the last; each value by itself where batches would be
/// smaller than `least`.
/// @param values  in the order of the steps
std::vector<std::vector<double>> batchesOfNeighbours(std::span<const double> values, std::size_t least);
/// Their means, of two steps or more each.
std::vector<double> batchMeans(std::span<const double> values);

} // namespace advisor
