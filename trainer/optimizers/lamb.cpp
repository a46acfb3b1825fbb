#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind lamb()
{
    return {"LAMB", "Adam with layer-wise rates: for transformers with large batches.", makeLamb, false};
}

} // namespace trainer::optimizers
