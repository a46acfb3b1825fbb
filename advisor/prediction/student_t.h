#pragma once

namespace advisor {

/// Regularized incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1], to about 1e-14. Source: NIST Digital
/// Library of Mathematical Functions, 8.17.22 (continued fraction) and 8.17.4 (symmetry), evaluated by Lentz's
/// algorithm as modified by Thompson and Barnett (1986).
double incompleteBeta(double a, double b, double x);

/// P(T ≤ t) for Student's t with `freedom` degrees of freedom. Source: Abramowitz & Stegun 26.7.1.
double studentTCdf(double t, double freedom);

/// The quantile t with P(T ≤ t) = `p`, for p in (0, 1).
double studentTQuantile(double p, double freedom);

} // namespace advisor
