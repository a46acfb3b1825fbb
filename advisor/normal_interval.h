#pragma once

namespace advisor {

/// Of the normal distribution at 97.5 %: what 95 % intervals reach, in standard errors.
inline constexpr double kNormalQuantile = 1.959964;

/// A share of which a sample is known, [0, 1].
struct ShareInterval {
    double low = 0, mid = 0, high = 0; ///< mid: the sample's
};
/// The 95 % interval of how often something happens that was seen `seen` times of `all`, which are more than 0. It
/// holds for few as well. Source: Wilson's score interval (E. B. Wilson, JASA 22, 1927).
ShareInterval shareInterval(double seen, double all);

} // namespace advisor
