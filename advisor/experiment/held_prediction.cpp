#include "advisor/experiment/held_prediction.h"

#include <cmath>

namespace advisor {

namespace {

bool isAboutMeasured(const Saving& saving, const ExperimentPlan& plan)
{
    if (isScreening(plan))
        return false;
    switch (saving.unit) {
    case SavingUnit::UsPerStep:
        return plan.objective == Objective::Time && plan.measure == "steps";
    case SavingUnit::UsPerEpoch:
        return plan.objective == Objective::Time && plan.measure == "epoch";
    case SavingUnit::UsPerValidation:
        return plan.objective == Objective::Time && plan.measure == "validation";
    case SavingUnit::Bytes:
        return plan.objective == Objective::Memory;
    }
    return false;
}

} // namespace

std::optional<Saving> predictedHere(const ExperimentResult& result)
{
    if (!result.plan.predicted || !isAboutMeasured(*result.plan.predicted, result.plan))
        return std::nullopt;
    Saving saving = *result.plan.predicted;
    if (saving.ofUs > 0 && result.unitUsA > 0) {
        const double times = result.unitUsA / saving.ofUs;
        for (double* us : {&saving.low, &saving.mid, &saving.high, &saving.ofUs})
            *us *= times;
    }
    return saving;
}

std::optional<bool> predictionHeld(const ExperimentResult& result)
{
    const auto predicted = predictedHere(result);
    const Interval& saved = result.plan.objective == Objective::Memory ? result.savedBytes : result.savedUs;
    if (!predicted || !std::isfinite(saved.value) || !saved.isKnown())
        return std::nullopt;
    // An upper bound does not limit how little is saved.
    const bool isBound = predicted->kind == SavingKind::UpperBound;
    if ((isBound || saved.value >= predicted->low) && saved.value <= predicted->high)
        return true;
    const bool isBeyond = saved.low > predicted->high || (!isBound && saved.high < predicted->low);
    return isBeyond ? std::optional(false) : std::nullopt;
}

} // namespace advisor
