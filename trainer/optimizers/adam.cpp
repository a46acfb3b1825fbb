#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind adam()
{
    return {"Adam", "Each weight's rate follows the size of its gradients; weight decay as L2.", makeAdam, true};
}

} // namespace trainer::optimizers
