#include "trainer/data/image.h"

#include "trainer/data/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

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

namespace {

/// Filter weights of each output pixel along one axis: `count` neighbouring input pixels from `first` on.
struct Taps {
    int count = 0;
    std::vector<int> first;
    std::vector<float> weights; ///< `count` per output pixel; they sum to 1

    void make(double begin, double length, int inputs, int outputs);
    [[nodiscard]] const float* of(int output) const { return weights.data() + std::ptrdiff_t{output} * count; }
};

void Taps::make(double begin, double length, int inputs, int outputs)
{
    const double scale = length / outputs;
    const double radius = std::max(scale, 1.0);
    count = std::min(static_cast<int>(std::ceil(2 * radius)) + 1, inputs);
    first.resize(static_cast<std::size_t>(outputs));
    weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(count), 0.0F);
    for (int i = 0; i < outputs; ++i) {
        const double centre = begin + (i + 0.5) * scale;
        const int from = std::clamp(static_cast<int>(std::floor(centre - radius)), 0, inputs - count);
        float* const weight = weights.data() + std::ptrdiff_t{i} * count;
        double sum = 0;
        for (int j = 0; j < count; ++j) {
            const double w = std::max(0.0, 1 - std::abs(from + j + 0.5 - centre) / radius);
            weight[j] = static_cast<float>(w);
            sum += w;
        }
        for (int j = 0; j < count; ++j)
            weight[j] = static_cast<float>(weight[j] / sum);
        first[static_cast<std::size_t>(i)] = from;
    }
}

/// Four floats in one register: one RGB pixel and one ignored value.
using Pixel = float __attribute__((vector_size(16)));

Pixel loadPixel(const float* at)
{
    Pixel pixel;
    std::memcpy(&pixel, at, sizeof pixel);
    return pixel;
}

/// Memory that a thread reuses from image to image.
struct Workspace {
    Taps horizontal, vertical;
    std::vector<float> row; ///< one output row, not yet scaled horizontally
};

/// Computes the weighted sum of the input rows for one output row: `values` numbers from column `offset` on.
/// Contiguous, so that the compiler vectorizes it.
void mixRows(const RgbImage& image, const Taps& taps, int output, std::size_t offset, std::size_t values, float* row)
{
    const float* weights = taps.of(output);
    const int first = taps.first[static_cast<std::size_t>(output)];
    const std::uint8_t* in = image.row(first) + offset;
    for (std::size_t i = 0; i < values; ++i)
        row[i] = weights[0] * static_cast<float>(in[i]);
    for (int j = 1; j < taps.count; ++j) {
        const float weight = weights[j];
        if (weight == 0)
            continue;
        in = image.row(first + j) + offset;
        for (std::size_t i = 0; i < values; ++i)
            row[i] += weight * static_cast<float>(in[i]);
    }
}

} // namespace

void resample(const RgbImage& image, const CropBox& box, int edge, const Normalisation& normalisation,
              std::span<float> out)
{
    thread_local Workspace space;
    const ImageSize size = image.size();
    space.horizontal.make(box.x, box.width, size.width, edge);
    space.vertical.make(box.y, box.height, size.height, edge);
    const int firstColumn = space.horizontal.first.front();
    const int endColumn = space.horizontal.first.back() + space.horizontal.count;
    const std::size_t values = static_cast<std::size_t>(endColumn - firstColumn) * RgbImage::kChannels;
    space.row.resize(values + 1); // loading the last pixel reads one extra value

    Pixel scale{}, bias{};
    for (int c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>(c);
        scale[c] = 1 / (255 * normalisation.deviation[at]);
        bias[c] = -normalisation.mean[at] / normalisation.deviation[at];
    }
    const std::ptrdiff_t plane = std::ptrdiff_t{edge} * edge;
    for (int y = 0; y < edge; ++y) {
        mixRows(image, space.vertical, y, static_cast<std::size_t>(firstColumn) * RgbImage::kChannels, values,
                space.row.data());
        float* to = out.data() + std::ptrdiff_t{y} * edge + (box.flip ? edge - 1 : 0);
        const std::ptrdiff_t step = box.flip ? -1 : 1;
        for (int x = 0; x < edge; ++x, to += step) {
            const float* weights = space.horizontal.of(x);
            const float* from = space.row.data() +
                                std::ptrdiff_t{space.horizontal.first[static_cast<std::size_t>(x)] - firstColumn} * 3;
            Pixel sum = weights[0] * loadPixel(from);
            for (int j = 1; j < space.horizontal.count; ++j)
                sum += weights[j] * loadPixel(from + std::ptrdiff_t{j} * 3);
            sum = sum * scale + bias;
            to[0] = sum[0];
            to[plane] = sum[1];
            to[2 * plane] = sum[2];
        }
    }
}

void shiftAndNormalise(std::span<const std::uint8_t> pixels, ImageSize size, int dx, int dy, float mean,
                       float deviation, std::uint8_t background, std::span<float> out)
{
    const float scale = 1 / (255 * deviation), bias = -mean / deviation;
    if (dx == 0 && dy == 0) {
        for (std::size_t i = 0; i < pixels.size(); ++i)
            out[i] = static_cast<float>(pixels[i]) * scale + bias;
        return;
    }
    const int from = std::clamp(dx, 0, size.width), to = std::clamp(size.width + dx, 0, size.width);
    std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(pixels.size()),
              static_cast<float>(background) * scale + bias);
    for (int y = std::max(dy, 0); y < std::min(size.height + dy, size.height); ++y) {
        const std::uint8_t* in = pixels.data() + std::ptrdiff_t{y - dy} * size.width - dx;
        float* row = out.data() + std::ptrdiff_t{y} * size.width;
        for (int x = from; x < to; ++x)
            row[x] = static_cast<float>(in[x]) * scale + bias;
    }
}

} // namespace trainer::data
