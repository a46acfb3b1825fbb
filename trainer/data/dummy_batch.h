#pragma once

#include "trainer/data/loader.h"

namespace trainer::data {

/// Gives a batch without a good sample zeros in its place, for a rank that others wait for: two samples where the batch
/// size allows, since the statistics of a batch norm have no meaning for one. In memory of its own: the loader's has
/// room for as many samples as the rank has, which may be one.
void dummyBatch(Batch& batch, const SampleSpec& spec, std::int64_t batchSize);

} // namespace trainer::data
