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

} // namespace trainer::data
