#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Distributions and intervals that predictions and experiments share.
namespace advisor {

/// Regularized incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1], to about 1e-14. Source: NIST Digital
/// Library of Mathematical Functions, 8.17.22 (continued fraction) and 8.17.4 (symmetry), evaluated by Lentz's
/// algorithm as modified by Thompson and Barnett (1986).
double incompleteBeta(double a, double b, double x);

/// P(T ≤ t) for Student's t with `freedom` degrees of freedom. Source: Abramowitz & Stegun 26.7.1.
double studentTCdf(double t, double freedom);

/// The quantile t with P(T ≤ t) = `p`, for p in (0, 1).
double studentTQuantile(double p, double freedom);

/// The 97.5 % quantile of the normal distribution: half the width of a 95 % interval in standard errors.
inline constexpr double kNormalQuantile = 1.959964;

/// Confidence interval of a share, [0, 1].
struct ShareInterval {
    double low = 0, mid = 0, high = 0; ///< mid: the share in the sample
};
/// 95 % confidence interval of a share, estimated from `seen` of `all` samples (`all` > 0). Also valid for small
/// samples. Source: Wilson's score interval (E. B. Wilson, JASA 22, 1927).
ShareInterval shareInterval(double seen, double all);

// Means of batches of consecutive steps. Consecutive steps are correlated (clocks, caches, other programs), so
// intervals from single steps would be too narrow: if there are enough steps, the standard error of the mean is
// computed from eight batches of consecutive steps (Law, Simulation Modeling and Analysis, 9.5.3, batch means). Used
// by the intervals of predictions and of comparisons of two runs.

inline constexpr std::size_t kBatches = 8;

/// Splits the values into eight batches of consecutive values, with the remainder in the last batch; returns each value
/// by itself if batches would be smaller than `least`.
/// @param values in the order of the steps
std::vector<std::vector<double>> batchesOfNeighbours(std::span<const double> values, std::size_t least);
/// The means of the batches, of at least two steps each.
std::vector<double> batchMeans(std::span<const double> values);

} // namespace advisor
