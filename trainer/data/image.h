#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

} // namespace trainer::data
