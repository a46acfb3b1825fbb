#include "trainer/data/image.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <cmath>

namespace trainer::data {

namespace {

// ImageNet's usual 8 % is meant for ninety epochs; short runs learn faster from larger crops.
constexpr double kLeastArea = 0.35;
constexpr double kWidestRatio = 4.0 / 3.0;
constexpr int kTries = 10;
constexpr double kCentreShare = 0.875; // 224 of 256, as in ImageNet evaluation

} // namespace

CropBox randomCrop(ImageSize size, std::uint64_t seed)
{
    Random random(seed);
    const bool flip = random.coin();
    const double width = size.width, height = size.height;
    for (int i = 0; i < kTries; ++i) {
        const double area = width * height * random.real(kLeastArea, 1);
        const double ratio = std::exp(random.real(-std::log(kWidestRatio), std::log(kWidestRatio)));
        const double w = std::sqrt(area * ratio), h = std::sqrt(area / ratio);
        if (w <= width && h <= height)
            return {random.real(0, width - w), random.real(0, height - h), w, h, flip};
    }
    // A very elongated image: use its centre, as wide as the aspect ratios allow.
    const double w = std::min(width, height * kWidestRatio), h = std::min(height, width * kWidestRatio);
    return {(width - w) / 2, (height - h) / 2, w, h, flip};
}

CropBox centreCrop(ImageSize size)
{
    const double edge = kCentreShare * std::min(size.width, size.height);
    return {(size.width - edge) / 2, (size.height - edge) / 2, edge, edge, false};
}

} // namespace trainer::data
