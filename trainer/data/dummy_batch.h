#pragma once

#include "trainer/data/loader.h"

namespace trainer::data {

/// Fills a batch that has no good sample with zeros, for a rank that other ranks wait for: two samples if the batch
/// size allows, because batch norm needs at least two. Uses separate memory, because the loader's buffer may have room
/// for only one sample.
void dummyBatch(Batch& batch, const SampleSpec& spec, std::int64_t batchSize);

} // namespace trainer::data
