#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind nvlamb()
{
    return {"NVLAMB", "NVIDIA's LAMB: gradients are normalised first, and biases have their own rate as well.",
            makeNvlamb, false};
}

} // namespace trainer::optimizers
