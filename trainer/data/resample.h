#pragma once

#include "trainer/data/image.h"

#include <array>
#include <cstdint>
#include <span>

namespace trainer::data {

/// out = (pixel / 255 − mean) / deviation, per channel.
struct Normalisation {
    std::array<float, 3> mean, deviation;
};
/// The statistics of ImageNet's training set, as used by published models.
inline constexpr Normalisation kImageNet{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
/// Values from 0 to 1.
inline constexpr Normalisation kUnchanged{{0, 0, 0}, {1, 1, 1}};

/// Crops, scales to `edge` × `edge`, flips and normalises in one pass. Triangle filter, as wide as the scale requires
/// (to avoid aliasing) and never narrower than bilinear interpolation.
/// @param out  3 × edge × edge floats, CHW
void resample(const RgbImage& image, const CropBox& box, int edge, const Normalisation& normalisation,
              std::span<float> out);

/// Normalises a grey image shifted by (dx, dy) pixels and fills the border with `background`.
/// @param out  one float per pixel
void shiftAndNormalise(std::span<const std::uint8_t> pixels, ImageSize size, int dx, int dy, float mean,
                       float deviation, std::uint8_t background, std::span<float> out);

} // namespace trainer::data
