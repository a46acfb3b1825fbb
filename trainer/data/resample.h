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
/// Of ImageNet's training set: what published models use.
inline constexpr Normalisation kImageNet{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
/// Values from 0 to 1.
inline constexpr Normalisation kUnchanged{{0, 0, 0}, {1, 1, 1}};

/// Crops, scales to `edge` × `edge`, mirrors and normalises in one pass. Triangle filter, as wide as the reduction asks
/// (so nothing aliases) and never narrower than bilinear interpolation.
/// @param out  3 × edge × edge floats, CHW
void resample(const RgbImage& image, const CropBox& box, int edge, const Normalisation& normalisation,
              std::span<float> out);

/// Normalises a grey image moved by (dx, dy) pixels; what comes in from outside is `background`.
/// @param out  as many floats as pixels
void shiftAndNormalise(std::span<const std::uint8_t> pixels, ImageSize size, int dx, int dy, float mean,
                       float deviation, std::uint8_t background, std::span<float> out);

} // namespace trainer::data
