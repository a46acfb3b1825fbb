#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind lamb()
{
    return {"LAMB", "Adam with a rate for each layer: for transformers with large batches.", makeLamb, false};
}

} // namespace trainer::optimizers
