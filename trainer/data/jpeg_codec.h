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
    /// @param size  one that scaledJpegSize() gave
    profiler::Result<void> decode(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

private:
    profiler::Result<void> decodeCmyk(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out);

    std::unique_ptr<void, int (*)(void*)> m_handle;
    bool m_cmyk = false; ///< of the file measured last
    std::vector<std::uint8_t> m_cmykPixels;
};

/// The smallest size that the decoder can scale to by itself (n/8, at most the full size) with at least `leastScale` of the
/// full one in both directions.
ImageSize scaledJpegSize(ImageSize full, double leastScale);

/// Encodes with chroma at half size, as cameras do.
profiler::Result<std::vector<std::uint8_t>> encodeJpeg(const RgbImage& image, int quality);

} // namespace trainer::data
