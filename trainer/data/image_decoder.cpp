#include "trainer/data/image_decoder.h"

#include <fmt/format.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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

namespace {

/// libpng's simplified interface returns errors as a status, so it never calls longjmp over our frames.
class PngFile {
public:
    explicit PngFile(std::span<const std::uint8_t> file)
    {
        m_image.version = PNG_IMAGE_VERSION;
        m_open = png_image_begin_read_from_memory(&m_image, file.data(), file.size()) != 0;
        // Without this flag, 16-bit files without a gamma value are treated as linear light and become too bright.
        m_image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    }
    ~PngFile() { png_image_free(&m_image); }
    PngFile(const PngFile&) = delete;
    PngFile& operator=(const PngFile&) = delete;

    [[nodiscard]] bool isOpen() const { return m_open; }
    [[nodiscard]] ImageSize size() const { return {static_cast<int>(m_image.width), static_cast<int>(m_image.height)}; }
    bool read(std::uint8_t* to)
    {
        m_image.format = PNG_FORMAT_RGB;
        constexpr png_color kWhite{255, 255, 255};
        return png_image_finish_read(&m_image, &kWhite, to, 0, nullptr) != 0;
    }
    [[nodiscard]] Error error() const
    {
        return profiler::makeError<"data.png.broken", "broken PNG: {why}">(Error::Code::Malformed, {}, {},
                                                                           {{"why", m_image.message}});
    }

private:
    png_image m_image{};
    bool m_open = false;
};

/// Reads the header only.
profiler::Result<ImageSize> measurePng(std::span<const std::uint8_t> file)
{
    const PngFile png(file);
    if (!png.isOpen())
        return tl::unexpected(png.error());
    return png.size();
}

/// Decodes any PNG to 8-bit RGB; transparency is blended with white.
profiler::Result<void> decodePng(std::span<const std::uint8_t> file, RgbImage& out)
{
    PngFile png(file);
    if (!png.isOpen())
        return tl::unexpected(png.error());
    out.resize(png.size());
    if (!png.read(out.pixels().data()))
        return tl::unexpected(png.error());
    return {};
}

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
