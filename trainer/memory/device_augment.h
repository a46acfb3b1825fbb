#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>

namespace trainer {

/// Crops and mirrors each image at random, as the loader does it on the processor: same shares of the area, ratios,
/// places and mirroring (data::randomCrop), resampled bilinearly, on the images' own device. Which crop each image gets
/// depends on the seed alone.
/// @param images  samples × channels × height × width, the whole picture
at::Tensor augmented(const at::Tensor& images, std::uint64_t seed);

} // namespace trainer
