#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind novograd()
{
    return {"NovoGrad", "Momentum on layer-wise normalised gradients: needs less memory than Adam.", makeNovograd,
            false};
}

} // namespace trainer::optimizers
