#include "advisor/batch_facts.h"

namespace advisor {

double samplesOfAStep(const config::TrainingConfig& config)
{
    // DataParallel splits a batch; DDP trains one on each copy.
    const double copies =
        config[config::key::parallel] == "ddp" ? static_cast<double>(config[config::key::localRanks]) : 1;
    return copies * static_cast<double>(config[config::key::batchSize] * config[config::key::accumulation]);
}

double timesTheReferenceBatch(const config::TrainingConfig& config)
{
    return samplesOfAStep(config) / static_cast<double>(config[config::key::lrBaseBatch]);
}

} // namespace advisor
