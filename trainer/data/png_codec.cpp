#include "trainer/data/png_codec.h"

#include <png.h>
#include <string>

namespace trainer::data {

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
    [[nodiscard]] profiler::Error error() const
    {
        return profiler::makeError<"data.png.broken", "broken PNG: {why}">(profiler::Error::Code::Malformed, {}, {},
                                                                           {{"why", m_image.message}});
    }

private:
    png_image m_image{};
    bool m_open = false;
};

} // namespace

profiler::Result<ImageSize> measurePng(std::span<const std::uint8_t> file)
{
    const PngFile png(file);
    if (!png.isOpen())
        return tl::unexpected(png.error());
    return png.size();
}

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

} // namespace trainer::data
