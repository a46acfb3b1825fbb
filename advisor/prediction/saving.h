#pragma once

#include "advisor/advice.h"

#include <span>
#include <string>
#include <vector>

/// How savings are made, checked and written. Every saving of the product is an estimate or an upper bound; this file
/// is the only place that turns one into text.
namespace advisor {

/// An upper bound: `low` is 0, `mid` and `high` are the bound.
Saving upperBound(SavingUnit unit, double bound);
/// The mean over steps of what goes away at most in each of them, µs, as an upper bound. 0 without steps.
Saving upperBoundOverSteps(std::span<const double> perStepUs);

/// The mean of a figure that was measured step by step, µs: an estimate whose interval is Student's t for that mean
/// (of batches of neighbours, which resemble each other; see batch_means.h). Of a single step the interval is
/// unbounded: it says nothing about the mean.
Saving meanOverSteps(std::span<const double> perStepUs);
/// The same for a figure that was measured in each epoch or validation, in the unit.
Saving meanOver(SavingUnit unit, std::span<const double> values);
/// The same where a model leaves open how much a change saves: from the interval of the mean of the least to that of
/// the mean of the most. Its middle lies between the two means.
Saving meanOverSteps(std::span<const double> leastUs, std::span<const double> mostUs);

/// The saving, where no more than `most` can go, in its unit.
Saving limited(Saving saving, double most);

/// "Could save 10.1–14.1 ms per step." or "At most 14.1 ms per step."
std::string savingText(const Saving& saving);
/// "10.1–14.1 ms" or "at most 14.1 ms".
std::string savingAmount(const Saving& saving);
/// " per step", " per epoch", " per validation"; empty for bytes.
std::string_view savingUnitText(SavingUnit unit);

/// What every rule's prediction goes through before it is shown. An estimate whose interval reaches further than half
/// its middle to either side is too uncertain to be one. The end of that interval is no bound, since the mean may lie
/// beyond it: the finding's own part of the time becomes its upper bound where that is known and says enough, and
/// elsewhere the prediction is withheld. A finding that would save nothing that can be printed is none: it is silent.
/// @param mostUs  µs of a step that the finding's parts of the time take, see claimableUs(); 0: not known
void dropWidePrediction(Advice& advice, double mostUs);

} // namespace advisor
