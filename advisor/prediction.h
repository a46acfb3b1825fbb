#pragma once

#include "advisor/advice.h"

namespace advisor {

/// What every rule's prediction goes through before it is shown. A range wider than half its middle to either side
/// promises nothing: it becomes whyNoPrediction, which says it in words. A finding that would save nothing that can be
/// printed is none: it is silent.
void settlePrediction(Advice& advice);

} // namespace advisor
