#pragma once

#include "profiler/model/result.h"
#include "trainer/data/image.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace trainer::data {

/// libjpeg-turbo's decoder. One thread at a time.
class JpegDecoder {
public:
    JpegDecoder();
    /// Reads the header only. Error::what says what is wrong; the caller knows the file.
    profiler::Result<ImageSize> measure(std::span<const std::uint8_t> file);
    /// @param size  of scaledJpeg()
    profiler::Result<void> decode(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

private:
    profiler::Result<void> decodeCmyk(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

    std::unique_ptr<void, int (*)(void*)> m_handle;
    bool m_cmyk = false; ///< of the file measured last
    std::vector<std::uint8_t> m_cmykPixels;
};

/// What a JPEG can be decoded to at less cost.
struct ScaledJpeg {
    ImageSize size;   ///< the last row and column may be covered in part only
    double scale = 1; ///< its pixels to those of the file
};
/// The smallest size that the decoder scales to fast (whole, half, quarter or eighth) with at least `leastScale` of the
/// full one.
ScaledJpeg scaledJpeg(ImageSize full, double leastScale);

/// Encodes with chroma at half size, as cameras do.
profiler::Result<std::vector<std::uint8_t>> encodeJpeg(const RgbImage& image, int quality);

} // namespace trainer::data
