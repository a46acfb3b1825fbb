#pragma once

#include "trainer/memory/batch_memory.h"

#include <ATen/core/Tensor.h>
#include <cstdint>

namespace trainer {

/// Augments a batch on its own device as the data set says (SampleSpec::augment): the distribution is the loader's,
/// and which choices each sample gets depends on the seed alone.
void augment(BatchTensors& batch, const data::SampleSpec& spec, std::uint64_t seed);

/// Crops and mirrors each image at random, as the loader does it on the processor: same shares of the area, ratios,
/// places and mirroring (data::randomCrop), resampled bilinearly.
/// @param images  samples × channels × height × width, the whole picture
at::Tensor cropped(const at::Tensor& images, std::uint64_t seed);

/// Moves each image by whole pixels, and mirrors half of them where `how` says so.
/// @param images  samples × channels × height × width
at::Tensor shifted(const at::Tensor& images, const data::BatchAugment& how, std::uint64_t seed);

/// Turns, scales and mirrors cubes about their centres (data::randomView), changes brightness and adds noise. Outside
/// of a cube its nearest voxel goes on.
/// @param volumes  samples × channels × edge × edge × edge, interpolated between voxels
/// @param labels  samples × edge × edge × edge, the nearest
struct Turned {
    at::Tensor volumes, labels;
};
Turned turned(const at::Tensor& volumes, const at::Tensor& labels, std::uint64_t seed);

} // namespace trainer
