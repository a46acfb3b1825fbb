#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind novograd()
{
    return {"NovoGrad", "Momentum on gradients that are normalised layer by layer: needs less memory than Adam.",
            makeNovograd, false};
}

} // namespace trainer::optimizers
