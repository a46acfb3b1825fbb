#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// An image in memory, and the two ways to bring it to the size and the values that a model expects: crop and resample,
/// or shift.
namespace trainer::data {

/// In pixels.
struct ImageSize {
    int width = 0, height = 0;
    [[nodiscard]] std::int64_t pixels() const { return std::int64_t{width} * height; }
    friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// 8-bit RGB, rows from top to bottom without padding. Its memory only grows, so one object can be reused for many
/// images.
class RgbImage {
public:
    static constexpr int kChannels = 3;

    /// The pixels are unspecified afterwards.
    void resize(ImageSize size)
    {
        m_size = size;
        if (m_pixels.size() < bytes())
            m_pixels.resize(bytes());
    }
    [[nodiscard]] ImageSize size() const { return m_size; }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(m_size.pixels()) * kChannels; }
    [[nodiscard]] std::span<std::uint8_t> pixels() { return {m_pixels.data(), bytes()}; }
    [[nodiscard]] std::span<const std::uint8_t> pixels() const { return {m_pixels.data(), bytes()}; }
    [[nodiscard]] std::uint8_t* row(int y) { return m_pixels.data() + rowOffset(y); }
    [[nodiscard]] const std::uint8_t* row(int y) const { return m_pixels.data() + rowOffset(y); }

private:
    [[nodiscard]] std::size_t rowOffset(int y) const
    {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(m_size.width) * kChannels;
    }
    ImageSize m_size;
    std::vector<std::uint8_t> m_pixels;
};

/// Part of an image, in pixels; its edges may be fractional.
struct CropBox {
    double x = 0, y = 0, width = 0, height = 0;
    bool flip = false; ///< mirrored left to right
};

/// Random resized crop: a box with 35 to 100 % of the area and an aspect ratio of 3:4 to 4:3 at a random position,
/// flipped half of the time.
CropBox randomCrop(ImageSize size, std::uint64_t seed);
/// The centre square with 7/8 of the shorter edge.
CropBox centreCrop(ImageSize size);

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
