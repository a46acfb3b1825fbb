#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind nvlamb()
{
    return {"NVLAMB", "NVIDIA's LAMB: gradients are normalised first, and biases have layer-wise rates too.",
            makeNvlamb, false};
}

} // namespace trainer::optimizers
