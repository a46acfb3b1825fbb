#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"
#include "trainer/data/jpeg_codec.h"

#include <cstdint>
#include <span>

namespace trainer::data {

/// No file may have more pixels than this: a few bytes can claim any size, and a progressive JPEG is held whole.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;
/// Nor may it be decoded to more, 200 MB.
inline constexpr std::int64_t kMostDecodedPixels = std::int64_t{1} << 26;

/// Decodes a JPEG or PNG file in memory to 8-bit RGB: grey, palette, 16 bits and CMYK are converted, transparency is
/// laid on white. Call measure(), then decode() with the same bytes. One thread at a time. Errors say what is wrong;
/// the caller knows the file.
class ImageDecoder {
public:
    /// Looks at the contents, not at a name. Refuses images that are too large before memory is taken.
    profiler::Result<ImageSize> measure(std::span<const std::uint8_t> file);
    /// @param leastScale  the result may be smaller than the file's size, down to this share of it, when that saves
    /// work
    /// @return the scale of the result, at most 1
    profiler::Result<double> decode(std::span<const std::uint8_t> file, double leastScale, RgbImage& out);

private:
    JpegDecoder m_jpeg;
    bool m_isJpeg = false;
    ImageSize m_size;
};

} // namespace trainer::data
