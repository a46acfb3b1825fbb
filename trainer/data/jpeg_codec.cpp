#include "trainer/data/jpeg_codec.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <turbojpeg.h>

namespace trainer::data {

namespace {

using profiler::Error;

Error malformed(const std::string& what)
{
    return profiler::makeError<"data.jpeg.broken", "broken JPEG: {why}">(Error::Code::Malformed, {}, {},
                                                                         {{"why", what}});
}

/// Cameras write such files; the image is complete.
bool isHarmless(std::string_view warning)
{
    return warning.find("extraneous bytes before marker") != std::string_view::npos;
}

/// @param status  of a decoder call
profiler::Result<void> checked(void* handle, int status)
{
    if (status == 0)
        return {};
    const std::string what = tjGetErrorStr2(handle);
    if (tjGetErrorCode(handle) == TJERR_WARNING && isHarmless(what))
        return {};
    return tl::unexpected(malformed(what));
}

// Limits the scans: a progressive file may contain any number of passes over the image.
constexpr int kFlags = TJFLAG_LIMITSCANS;

} // namespace

JpegDecoder::JpegDecoder() : m_handle(tjInitDecompress(), tjDestroy) {}

profiler::Result<ImageSize> JpegDecoder::measure(std::span<const std::uint8_t> file)
{
    if (!m_handle)
        return profiler::fail<"data.jpeg.no_decoder", "the JPEG decoder cannot be created: {why}">(
            Error::Code::Unavailable, {}, {}, {{"why", tjGetErrorStr2(nullptr)}});
    ImageSize size;
    int subsampling = 0, colourSpace = 0;
    const int status = tjDecompressHeader3(m_handle.get(), file.data(), file.size(), &size.width, &size.height,
                                           &subsampling, &colourSpace);
    if (auto ok = checked(m_handle.get(), status); !ok)
        return tl::unexpected(ok.error());
    if (size.width < 1 || size.height < 1) // for the library, a file that ends before the image data is not an error
        return tl::unexpected(malformed("it contains no image"));
    m_cmyk = colourSpace == TJCS_CMYK || colourSpace == TJCS_YCCK;
    return size;
}

profiler::Result<void> JpegDecoder::decode(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out)
{
    if (m_cmyk)
        return decodeCmyk(file, size, out);
    out.resize(size);
    return checked(m_handle.get(), tjDecompress2(m_handle.get(), file.data(), file.size(), out.pixels().data(),
                                                 size.width, 0, size.height, TJPF_RGB, kFlags));
}

profiler::Result<void> JpegDecoder::decodeCmyk(std::span<const std::uint8_t> file, ImageSize size, RgbImage& out)
{
    m_cmykPixels.resize(static_cast<std::size_t>(size.pixels()) * 4);
    const int status = tjDecompress2(m_handle.get(), file.data(), file.size(), m_cmykPixels.data(), size.width, 0,
                                     size.height, TJPF_CMYK, kFlags);
    if (auto ok = checked(m_handle.get(), status); !ok)
        return ok;
    out.resize(size);
    // Like all common programs, Adobe stores CMYK inverted: 255 means no ink.
    const std::uint8_t* in = m_cmykPixels.data();
    std::uint8_t* to = out.pixels().data();
    for (std::int64_t i = 0; i < size.pixels(); ++i, in += 4, to += 3)
        for (int c = 0; c < 3; ++c)
            to[c] = static_cast<std::uint8_t>(in[c] * in[3] / 255);
    return {};
}

ScaledJpeg scaledJpeg(ImageSize full, double leastScale)
{
    int count = 0;
    const tjscalingfactor* factors = tjGetScalingFactors(&count);
    ScaledJpeg best{full, 1};
    for (int i = 0; i < count; ++i) {
        const double scale = static_cast<double>(factors[i].num) / factors[i].denom;
        // libjpeg-turbo has SIMD code only for whole, half, quarter and eighth size: 5/8 takes longer than full size.
        if (factors[i].num == 1 && scale >= leastScale && scale < best.scale)
            best = {{TJSCALED(full.width, factors[i]), TJSCALED(full.height, factors[i])}, scale};
    }
    return best;
}

profiler::Result<std::vector<std::uint8_t>> encodeJpeg(const RgbImage& image, int quality)
{
    const std::unique_ptr<void, int (*)(void*)> handle(tjInitCompress(), tjDestroy);
    const ImageSize size = image.size();
    std::vector<std::uint8_t> file(tjBufSize(size.width, size.height, TJSAMP_420));
    unsigned char* to = file.data();
    unsigned long bytes = file.size();
    if (!handle || tjCompress2(handle.get(), image.pixels().data(), size.width, 0, size.height, TJPF_RGB, &to, &bytes,
                               TJSAMP_420, quality, TJFLAG_NOREALLOC) != 0)
        return profiler::fail<"data.jpeg.unwritten", "the image cannot be written as JPEG: {why}">(
            Error::Code::Invalid, {}, {}, {{"why", tjGetErrorStr2(handle.get())}});
    file.resize(bytes);
    return file;
}

} // namespace trainer::data
