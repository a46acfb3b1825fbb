#pragma once

#include "advisor/advice.h"

#include <span>
#include <string>
#include <vector>

/// Creates, checks and formats savings. Every saving in the product is an estimate or an upper bound, and only this
/// file turns savings into text.
namespace advisor {

/// An upper bound: `low` is 0, `mid` and `high` are the bound.
Saving upperBound(SavingUnit unit, double bound);
/// The mean over the steps of the most that disappears in each of them, in µs, as an upper bound. 0 without steps.
Saving upperBoundOverSteps(std::span<const double> perStepUs);

/// The mean of a quantity that was measured step by step, in µs: an estimate with Student's t interval for the mean (of
/// batches of consecutive steps, which are correlated; see confidence.h). For a single step the interval is unbounded.
/// If a model leaves open how much a change saves, `leastUs` and `mostUs` differ: the interval reaches from the low end
/// of the interval of the lower mean to the high end of that of the upper mean. Its midpoint is between the two means.
Saving meanOverSteps(std::span<const double> leastUs, std::span<const double> mostUs);

/// The saving, limited to `most` in its unit.
Saving limited(Saving saving, double most);

/// "Could save 10.1–14.1 ms per step." or "At most 14.1 ms per step."
std::string savingText(const Saving& saving);
/// "10.1–14.1 ms" or "at most 14.1 ms".
std::string savingAmount(const Saving& saving);
/// " per step", " per epoch", " per validation"; empty for bytes.
std::string_view savingUnitText(SavingUnit unit);

/// Checks every rule's prediction before it is shown. An estimate whose interval extends further than half its midpoint
/// to either side is too uncertain. The end of that interval is not a bound, because the mean may be outside it: the
/// finding's own part of the time becomes the upper bound if it is known and small enough; otherwise, the prediction is
/// withheld. A finding whose saving would be printed as zero becomes silent.
/// @param mostUs step time in µs of the finding's parts, see claimableUs(); 0: unknown
void dropWidePrediction(Advice& advice, double mostUs);

} // namespace advisor
