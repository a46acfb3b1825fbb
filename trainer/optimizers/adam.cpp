#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind adam()
{
    return {"Adam", "Adapts each weight's rate to the size of its gradients; weight decay as L2.", makeAdam, true};
}

} // namespace trainer::optimizers
