#pragma once

namespace advisor {

/// The 97.5 % quantile of the normal distribution: half the width of a 95 % interval in standard errors.
inline constexpr double kNormalQuantile = 1.959964;

/// Confidence interval of a share, [0, 1].
struct ShareInterval {
    double low = 0, mid = 0, high = 0; ///< mid: the share in the sample
};
/// The 95 % confidence interval of a share of which `seen` of `all` samples are known, where `all` > 0. Also valid for
/// small samples. Source: Wilson's score interval (E. B. Wilson, JASA 22, 1927).
ShareInterval shareInterval(double seen, double all);

} // namespace advisor
