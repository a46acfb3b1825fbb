#include "tests/data/image_files.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/image_decoder.h"

#include <gmock/gmock.h>
#include <png.h>
#include <turbojpeg.h>
#include <zlib.h>

namespace data_test {
namespace {

using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using testing::ElementsAre;

using Pixel = std::array<int, 3>;

Pixel pixelAt(const RgbImage& image, int x, int y)
{
    const std::uint8_t* at = image.row(y) + 3 * x;
    return {at[0], at[1], at[2]};
}

MATCHER_P2(Near, expected, tolerance, "")
{
    for (std::size_t c = 0; c < 3; ++c)
        if (std::abs(arg[c] - expected[c]) > tolerance)
            return false;
    return true;
}

/// A file in memory in one of libpng's formats.
Bytes png(png_uint_32 format, ImageSize size, const void* pixels, const void* colours = nullptr,
          png_uint_32 entries = 0)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(size.width);
    image.height = static_cast<png_uint_32>(size.height);
    image.format = format;
    image.colormap_entries = entries;
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    Bytes file(bytes);
    EXPECT_NE(png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels, 0, colours), 0) << image.message;
    file.resize(bytes);
    return file;
}

/// A 16-bit grey file, by libpng's low-level interface: the simplified one takes linear light.
Bytes grey16Png(ImageSize size, std::uint16_t value)
{
    Bytes file;
    png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(writer);
    png_set_write_fn(
        writer, &file,
        [](png_structp at, png_bytep data, png_size_t bytes) {
            auto* to = static_cast<Bytes*>(png_get_io_ptr(at));
            to->insert(to->end(), data, data + bytes);
        },
        nullptr);
    png_set_IHDR(writer, info, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), 16,
                 PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer, info);
    Bytes row;
    for (int x = 0; x < size.width; ++x) {
        row.push_back(static_cast<std::uint8_t>(value >> 8));
        row.push_back(static_cast<std::uint8_t>(value & 0xff));
    }
    for (int y = 0; y < size.height; ++y)
        png_write_row(writer, row.data());
    png_write_end(writer, nullptr);
    png_destroy_write_struct(&writer, &info);
    return file;
}

Bytes jpeg(ImageSize size, int format, const Bytes& pixels, int subsampling)
{
    tjhandle handle = tjInitCompress();
    unsigned char* to = nullptr;
    unsigned long bytes = 0;
    EXPECT_EQ(tjCompress2(handle, pixels.data(), size.width, 0, size.height, format, &to, &bytes, subsampling, 95, 0),
              0);
    Bytes file(to, to + bytes);
    tjFree(to);
    tjDestroy(handle);
    return file;
}

profiler::Result<RgbImage> decode(const Bytes& file, double leastScale = 1)
{
    ImageDecoder decoder;
    if (const auto size = decoder.measure(file); !size)
        return tl::unexpected(size.error());
    RgbImage image;
    if (const auto scale = decoder.decode(file, leastScale, image); !scale)
        return tl::unexpected(scale.error());
    return image;
}

/// Empty where the image can be decoded.
profiler::Message failure(const Bytes& file)
{
    const auto image = decode(file);
    return image ? profiler::Message() : image.error().what;
}

TEST(ImageDecoder, JpegInColourAndGrey)
{
    const Bytes colour = *encodeJpeg(plainImage({20, 10}, {200, 100, 50}), 95);
    const auto image = decode(colour);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->size(), (ImageSize{20, 10}));
    EXPECT_THAT(pixelAt(*image, 10, 5), Near(Pixel{200, 100, 50}, 4));
    const auto grey = decode(jpeg({8, 8}, TJPF_GRAY, Bytes(64, 77), TJSAMP_GRAY));
    ASSERT_TRUE(grey);
    EXPECT_THAT(pixelAt(*grey, 3, 3), Near(Pixel{77, 77, 77}, 2));
}

TEST(ImageDecoder, CmykJpegIsConverted)
{
    Bytes ink;
    for (int i = 0; i < 64; ++i)
        ink.insert(ink.end(), {255, 128, 0, 200}); // inverted: no cyan, half magenta, full yellow, some black
    const auto image = decode(jpeg({8, 8}, TJPF_CMYK, ink, TJSAMP_444));
    ASSERT_TRUE(image) << image.error().what.text;
    EXPECT_THAT(pixelAt(*image, 4, 4), Near(Pixel{200, 100, 0}, 6));
}

TEST(ImageDecoder, JpegIsScaledNoFurtherThanAllowed)
{
    const Bytes file = *encodeJpeg(plainImage({160, 80}, {1, 2, 3}), 90);
    EXPECT_EQ(decode(file, 1)->size(), (ImageSize{160, 80}));
    EXPECT_EQ(decode(file, 0.51)->size(), (ImageSize{160, 80}));
    EXPECT_EQ(decode(file, 0.5)->size(), (ImageSize{80, 40}));
    EXPECT_EQ(decode(file, 0.13)->size(), (ImageSize{40, 20}));
    EXPECT_EQ(decode(file, 0.01)->size(), (ImageSize{20, 10}));
    EXPECT_EQ(decode(file, 3)->size(), (ImageSize{160, 80}));
}

TEST(ImageDecoder, PngInAllKindsOfPixels)
{
    const auto colour = decode(png(PNG_FORMAT_RGB, {2, 1}, Bytes{1, 2, 3, 4, 5, 6}.data()));
    ASSERT_TRUE(colour);
    EXPECT_EQ(pixelAt(*colour, 1, 0), (Pixel{4, 5, 6}));
    const auto grey = decode(png(PNG_FORMAT_GRAY, {2, 1}, Bytes{9, 200}.data()));
    ASSERT_TRUE(grey);
    EXPECT_EQ(pixelAt(*grey, 1, 0), (Pixel{200, 200, 200}));
    const auto palette =
        decode(png(PNG_FORMAT_RGB_COLORMAP, {2, 1}, Bytes{1, 0}.data(), Bytes{10, 11, 12, 20, 21, 22}.data(), 2));
    ASSERT_TRUE(palette);
    EXPECT_EQ(pixelAt(*palette, 0, 0), (Pixel{20, 21, 22}));
    const auto deep = decode(grey16Png({3, 3}, 0x8080));
    ASSERT_TRUE(deep);
    EXPECT_THAT(pixelAt(*deep, 1, 1), Near(Pixel{128, 128, 128}, 1));
}

TEST(ImageDecoder, TransparencyIsBlendedWithWhite)
{
    const auto image = decode(png(PNG_FORMAT_RGBA, {2, 1}, Bytes{10, 20, 30, 255, 10, 20, 30, 0}.data()));
    ASSERT_TRUE(image);
    EXPECT_EQ(pixelAt(*image, 0, 0), (Pixel{10, 20, 30}));
    EXPECT_EQ(pixelAt(*image, 1, 0), (Pixel{255, 255, 255}));
}

TEST(ImageDecoder, BrokenFilesAreReportedWithAReason)
{
    Bytes cutJpeg = *encodeJpeg(rampImage({200, 200}), 90);
    cutJpeg.resize(cutJpeg.size() / 2);
    EXPECT_THAT(failure(cutJpeg), hasId("data.jpeg.broken"));
    Bytes cutPng = png(PNG_FORMAT_RGB, {200, 200}, rampImage({200, 200}).pixels().data());
    cutPng.resize(cutPng.size() / 2);
    EXPECT_THAT(failure(cutPng), hasId("data.png.broken"));
    EXPECT_THAT(failure({0xff, 0xd8, 0xff, 0xe0, 1, 2, 3}), hasId("data.jpeg.broken"));
    EXPECT_THAT(failure({0x89, 'P', 'N', 'G', 1, 2, 3}), hasId("data.png.broken"));
    EXPECT_THAT(failure({'G', 'I', 'F', '8'}), hasId("data.image.kind"));
    EXPECT_THAT(failure({}), hasId("data.image.empty"));
}

TEST(ImageDecoder, ADamagedJpegIsRefusedStrayBytesAreNot)
{
    const Bytes whole = *encodeJpeg(rampImage({64, 64}), 90);
    Bytes damaged = whole;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 40; ++i)
        damaged[i] = 0xff;
    EXPECT_THAT(failure(damaged), hasId("data.jpeg.broken"));
    Bytes stray = whole;
    stray.insert(stray.end() - 2, {1, 2, 3});
    EXPECT_TRUE(failure(stray).empty());
}

TEST(ImageDecoder, ADecompressionBombIsRejectedBeforeMemoryIsAllocated)
{
    Bytes bomb = png(PNG_FORMAT_GRAY, {1, 1}, Bytes{0}.data());
    for (const std::size_t at : {16U, 20U}) { // width and height in the header, then its checksum
        bomb[at] = 0;
        bomb[at + 1] = 1;
        bomb[at + 2] = 0;
        bomb[at + 3] = 0;
    }
    const auto checksum = crc32_z(0, bomb.data() + 12, 17);
    for (int i = 0; i < 4; ++i)
        bomb[29 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
    EXPECT_THAT(failure(bomb), hasId("data.image.too_large", {{"width", 65536}, {"height", 65536}}));

    Bytes jpegBomb = *encodeJpeg(plainImage({16, 16}, {0, 0, 0}), 90);
    for (std::size_t i = 0; i + 8 < jpegBomb.size(); ++i)
        if (jpegBomb[i] == 0xff && jpegBomb[i + 1] == 0xc0) { // start of frame: length, precision, height, width
            jpegBomb[i + 5] = jpegBomb[i + 7] = 0xff;
            jpegBomb[i + 6] = jpegBomb[i + 8] = 0x00;
        }
    EXPECT_THAT(failure(jpegBomb), hasId("data.image.too_large", {{"width", 65280}, {"height", 65280}}));
}

TEST(ImageDecoder, OneDecoderReadsFilesOfAllKinds)
{
    ImageDecoder decoder;
    RgbImage image;
    const Bytes large = *encodeJpeg(plainImage({64, 64}, {10, 200, 10}), 95);
    const Bytes small = png(PNG_FORMAT_RGB, {1, 1}, Bytes{1, 2, 3}.data());
    const Bytes broken{0xff, 0xd8, 0xff, 0};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(decoder.measure(large));
        ASSERT_TRUE(decoder.decode(large, 1, image));
        EXPECT_EQ(image.pixels().size(), 64U * 64 * 3);
        EXPECT_FALSE(decoder.measure(broken));
        ASSERT_TRUE(decoder.measure(small));
        ASSERT_TRUE(decoder.decode(small, 1, image));
        EXPECT_THAT(image.pixels(), ElementsAre(1, 2, 3));
    }
}

} // namespace
} // namespace data_test
