#pragma once

#include "trainer/memory/batch_memory.h"

#include <ATen/core/Tensor.h>
#include <cstdint>

namespace trainer {

/// Augments a batch on its own device according to SampleSpec::augment: the distribution is the loader's, and each
/// sample's random choices depend only on the seed.
void augment(BatchTensors& batch, const data::SampleSpec& spec, std::uint64_t seed);

/// Crops and flips each image at random, like the loader on the CPU: same area, aspect ratios, positions and flips
/// (data::randomCrop), with bilinear resampling.
/// @param images  samples × channels × height × width, uncropped
at::Tensor cropped(const at::Tensor& images, std::uint64_t seed);

/// Shifts each image by whole pixels, and flips half of them if `how` says so.
/// @param images  samples × channels × height × width
at::Tensor shifted(const at::Tensor& images, const data::BatchAugment& how, std::uint64_t seed);

} // namespace trainer
