#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind sgd()
{
    return {"SGD", "Stochastic gradient descent with momentum; weight decay as L2.", makeSgd, true};
}

} // namespace trainer::optimizers
