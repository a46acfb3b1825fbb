#include "trainer/data/image_decoder.h"

#include "trainer/data/png_codec.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace trainer::data {

namespace {

using profiler::Error;

bool startsWith(std::span<const std::uint8_t> file, std::span<const std::uint8_t> magic)
{
    return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

profiler::Result<void> checkPixels(ImageSize size, std::int64_t most)
{
    if (size.pixels() <= most)
        return {};
    return profiler::fail<"data.image.too_large",
                          "an image of {width} × {height} pixels is too large: at most {most} million pixels are "
                          "allowed">(Error::Code::Unsupported, {}, {},
                                     {{"width", size.width}, {"height", size.height}, {"most", most / 1'000'000}});
}

} // namespace

profiler::Result<ImageSize> ImageDecoder::measure(std::span<const std::uint8_t> file)
{
    constexpr std::array<std::uint8_t, 3> kJpeg{0xff, 0xd8, 0xff};
    constexpr std::array<std::uint8_t, 4> kPng{0x89, 'P', 'N', 'G'};
    m_isJpeg = startsWith(file, kJpeg);
    if (!m_isJpeg && !startsWith(file, kPng))
        return file.empty()
                   ? profiler::fail<"data.image.empty", "the file is empty">(Error::Code::Malformed)
                   : profiler::fail<"data.image.kind", "neither a JPEG nor a PNG file">(Error::Code::Malformed);
    const auto size = m_isJpeg ? m_jpeg.measure(file) : measurePng(file);
    if (!size)
        return size;
    m_size = *size;
    if (auto ok = checkPixels(*size, kMostPixels); !ok)
        return tl::unexpected(ok.error());
    return size;
}

profiler::Result<double> ImageDecoder::decode(std::span<const std::uint8_t> file, double leastScale, RgbImage& out)
{
    const ScaledJpeg wanted = m_isJpeg ? scaledJpeg(m_size, leastScale) : ScaledJpeg{m_size, 1};
    auto ok = checkPixels(wanted.size, kMostDecodedPixels);
    if (ok)
        ok = m_isJpeg ? m_jpeg.decode(file, wanted.size, out) : decodePng(file, out);
    if (!ok)
        return tl::unexpected(ok.error());
    return wanted.scale;
}

} // namespace trainer::data
