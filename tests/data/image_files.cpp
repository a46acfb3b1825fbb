#include "tests/data/image_files.h"

#include "trainer/data/image_decoder.h"
#include "trainer_data_datasets_registry.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <png.h>

namespace data_test {

namespace fs = std::filesystem;
using namespace trainer::data;

RgbImage plainImage(ImageSize size, std::array<std::uint8_t, 3> colour)
{
    RgbImage image;
    image.resize(size);
    for (std::size_t i = 0; i < image.bytes(); ++i)
        image.pixels()[i] = colour[i % 3];
    return image;
}

RgbImage rampImage(ImageSize size)
{
    RgbImage image;
    image.resize(size);
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            image.row(y)[3 * x] = static_cast<std::uint8_t>(x);
            image.row(y)[3 * x + 1] = static_cast<std::uint8_t>(y);
            image.row(y)[3 * x + 2] = 0;
        }
    return image;
}

void writeBytes(const fs::path& path, const Bytes& bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

Bytes readBytes(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void writeJpeg(const fs::path& path, const RgbImage& image, int quality)
{
    writeBytes(path, *encodeJpeg(image, quality));
}

void writePng(const fs::path& path, const RgbImage& image)
{
    fs::create_directories(path.parent_path());
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.size().width);
    png.height = static_cast<png_uint_32>(image.size().height);
    png.format = PNG_FORMAT_RGB;
    ASSERT_NE(png_image_write_to_file(&png, path.c_str(), 0, image.pixels().data(), 0, nullptr), 0);
}

config::TrainingConfig configOf(std::initializer_list<std::pair<std::string_view, std::string>> values)
{
    config::TrainingConfig config;
    for (const auto& [key, value] : values)
        EXPECT_TRUE(config.set(key, value)) << key;
    return config;
}

profiler::Result<std::shared_ptr<const Dataset>> openDataset(std::string_view kind,
                                                             const config::TrainingConfig& config,
                                                             const OpenProgress& progress, std::stop_token stop)
{
    for (const auto& entry : trainer::datasets::all())
        if (entry.stem == kind)
            return entry.entry.open(config, progress, std::move(stop));
    return profiler::fail<"test.no_such_kind", "no such kind">(profiler::Error::Code::NotFound);
}

profiler::Result<std::int64_t> loadImage(const Dataset& dataset, Split split, std::int64_t index,
                                         std::uint64_t augmentSeed, std::vector<float>& out,
                                         const StageRecorder& stages)
{
    out.resize(static_cast<std::size_t>(dataset.spec().inputs[0].elements()));
    std::int64_t label = -1;
    SampleOut sample;
    sample.inputs[0] = std::as_writable_bytes(std::span(out));
    sample.target = std::as_writable_bytes(std::span(&label, 1));
    if (auto loaded = dataset.load(split, index, augmentSeed, sample, stages); !loaded)
        return tl::unexpected(loaded.error());
    return label;
}

} // namespace data_test
