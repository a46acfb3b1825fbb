#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind adamw()
{
    return {"AdamW", "Adam with weight decay that is decoupled from the gradient.", makeAdamW, true};
}

} // namespace trainer::optimizers
