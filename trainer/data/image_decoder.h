#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"
#include "trainer/data/jpeg_codec.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// Limit of the pixels in a file: a few bytes can claim any size, and a progressive JPEG is held in memory as a whole.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;
/// Limit of the decoded pixels: 200 MB.
inline constexpr std::int64_t kMostDecodedPixels = std::int64_t{1} << 26;

/// Decodes a JPEG or PNG file in memory to 8-bit RGB: converts grey, palette, 16-bit and CMYK images, and blends
/// transparency with white. Call measure(), then decode() with the same bytes. One thread at a time. Errors describe
/// the problem; the caller adds the file.
class ImageDecoder {
public:
    /// Checks the contents, not the file name. Rejects images that are too large before allocating memory.
    profiler::Result<ImageSize> measure(std::span<const std::uint8_t> file);
    /// @param leastScale  the result may be smaller than the file's image, down to this scale, if that saves work
    /// @return the scale of the result, at most 1
    profiler::Result<double> decode(std::span<const std::uint8_t> file, double leastScale, RgbImage& out);

private:
    JpegDecoder m_jpeg;
    bool m_isJpeg = false;
    ImageSize m_size;
};

} // namespace trainer::data
