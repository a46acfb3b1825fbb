#include "trainer/optimizers/parts/families.h"

namespace trainer::optimizers {

OptimizerKind lars()
{
    return {"LARS", "SGD with layer-wise rates: for convolutional networks with large batches.", makeLars, false};
}

} // namespace trainer::optimizers
