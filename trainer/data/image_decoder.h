#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Image files in memory: reads JPEG and PNG, writes JPEG.
namespace trainer::data {

/// libjpeg-turbo's decoder. One thread at a time.
class JpegDecoder {
public:
    JpegDecoder();
    /// Reads the header only. Error::what describes the problem; the caller adds the file.
    profiler::Result<ImageSize> measure(std::span<const std::uint8_t> file);
    /// @param size  of scaledJpeg()
    profiler::Result<void> decode(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

private:
    profiler::Result<void> decodeCmyk(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

    std::unique_ptr<void, int (*)(void*)> m_handle;
    bool m_cmyk = false; ///< of the last measured file
    std::vector<std::uint8_t> m_cmykPixels;
};

/// A reduced size that a JPEG can be decoded to faster.
struct ScaledJpeg {
    ImageSize size;   ///< the last row and column may be partially covered
    double scale = 1; ///< ratio of its size to the file's
};
/// The smallest size that the decoder scales to fast (whole, half, quarter or eighth) with at least `leastScale` of the
/// full size.
ScaledJpeg scaledJpeg(ImageSize full, double leastScale);

/// Encodes with 4:2:0 chroma subsampling, as cameras do.
profiler::Result<std::vector<std::uint8_t>> encodeJpeg(const RgbImage& image, int quality);

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
