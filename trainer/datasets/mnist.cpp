#include "trainer/data/dataset.h"
#include "trainer/data/file_bytes.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/image.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <tuple>
#include <zlib.h>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using data::Split;
using profiler::Error;
using profiler::Result;

constexpr std::int64_t kClasses = 10;
// Mean and standard deviation of MNIST's training images.
constexpr float kMean = 0.1307F, kDeviation = 0.3081F;
constexpr std::int64_t kMostShift = 2; // px
constexpr std::int64_t kMostEdge = 1024;

/// An IDX file of unsigned bytes (the format of MNIST and similar datasets).
struct IdxArray {
    std::vector<std::int64_t> dimensions; ///< outermost first
    std::vector<std::uint8_t> values;     ///< row by row
};

constexpr std::int64_t kMostIdxValues = std::int64_t{1} << 33;
constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::uint8_t kUnsignedByte = 0x08;

/// zlib also reads uncompressed files.
class IdxReader {
public:
    explicit IdxReader(const std::filesystem::path& path) : m_path(path), m_file(gzopen(path.c_str(), "rbe"), gzclose)
    {
        if (!m_file)
            m_errno = errno;
    }

    [[nodiscard]] bool isOpen() const { return m_file != nullptr; }
    [[nodiscard]] Error openError() const { return data::fileError(m_errno, "the file cannot be read", m_path); }
    /// Returns the number of bytes read: fewer than requested at the end of the file.
    Result<std::size_t> read(std::span<std::uint8_t> to)
    {
        const int got = gzread(m_file.get(), to.data(), static_cast<unsigned>(to.size()));
        int status = Z_OK;
        const char* what = gzerror(m_file.get(), &status);
        // A truncated compressed file gives Z_BUF_ERROR; the check of the length reports it.
        if (got < 0 || (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR))
            return tl::unexpected(
                error(profiler::message<"data.idx.unpack", "the file cannot be decompressed: {why}">({{"why", what}})));
        return static_cast<std::size_t>(got);
    }
    [[nodiscard]] Error error(profiler::Message what) const
    {
        return {Error::Code::Malformed, std::move(what), m_path.string(), "download or unpack the file again"};
    }

private:
    std::filesystem::path m_path;
    std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> m_file;
    int m_errno = 0;
};

std::uint32_t bigEndian(const std::uint8_t* bytes)
{
    return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) | (std::uint32_t{bytes[2]} << 8) |
           bytes[3];
}

Result<std::vector<std::int64_t>> readIdxHeader(IdxReader& reader, std::size_t dimensions)
{
    std::array<std::uint8_t, 4 + 4 * 4> header{};
    const std::span<std::uint8_t> wanted(header.data(), 4 + 4 * dimensions);
    const auto got = reader.read(wanted);
    if (!got)
        return tl::unexpected(got.error());
    if (*got < 4 || header[0] != 0 || header[1] != 0 || header[2] != kUnsignedByte || header[3] != dimensions)
        return tl::unexpected(reader.error(
            profiler::message<
                "data.idx.not_idx",
                "not an IDX file of bytes with {dimensions} dimensions: it starts with {found} instead of {wanted}">(
                {{"dimensions", dimensions},
                 {"found", fmt::format("{:#010x}", bigEndian(header.data()))},
                 {"wanted", fmt::format("{:#010x}", (std::uint32_t{kUnsignedByte} << 8) | dimensions)}})));
    if (*got < wanted.size())
        return tl::unexpected(reader.error(profiler::message<"data.idx.cut_header", "the header is truncated">()));
    std::vector<std::int64_t> sizes;
    std::int64_t values = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
        sizes.push_back(bigEndian(header.data() + 4 + 4 * i));
        if (sizes.back() > 0 && values > kMostIdxValues / sizes.back())
            return tl::unexpected(
                reader.error(profiler::message<"data.idx.too_large", "the header declares more than 8 GB">()));
        values *= sizes.back();
    }
    return sizes;
}

/// Reads an IDX file, with or without gzip compression. Checks that the file contains exactly what its header declares;
/// memory grows only with the actual contents.
/// @param dimensions  number of dimensions that the file must have
Result<IdxArray> readIdx(const std::filesystem::path& path, std::size_t dimensions)
{
    IdxReader reader(path);
    if (!reader.isOpen())
        return tl::unexpected(reader.openError());
    auto sizes = readIdxHeader(reader, dimensions);
    if (!sizes)
        return tl::unexpected(sizes.error());
    IdxArray array{.dimensions = std::move(*sizes), .values = {}};
    std::size_t wanted = 1;
    for (const std::int64_t size : array.dimensions)
        wanted *= static_cast<std::size_t>(size);
    // Reads one byte more than expected, so that a file that is too long is detected as well.
    while (array.values.size() <= wanted) {
        const std::size_t have = array.values.size();
        array.values.resize(have + std::min(kChunk, wanted + 1 - have));
        const auto got = reader.read(std::span(array.values).subspan(have));
        if (!got)
            return tl::unexpected(got.error());
        array.values.resize(have + *got);
        if (*got == 0)
            break;
    }
    if (array.values.size() != wanted)
        return tl::unexpected(reader.error(
            profiler::message<"data.idx.length", "the header declares {wanted} values, but the file contains "
                                                 "{comparison}{have}">(
                {{"wanted", wanted},
                 {"comparison", array.values.size() > wanted ? "more" : "only "},
                 {"have", array.values.size() > wanted ? "" : std::to_string(array.values.size())}})));
    return array;
}

/// Writes an uncompressed IDX file of unsigned bytes.
Result<void> writeIdx(const std::filesystem::path& path, const IdxArray& array)
{
    std::vector<std::uint8_t> bytes = {0, 0, kUnsignedByte, static_cast<std::uint8_t>(array.dimensions.size())};
    for (const std::int64_t size : array.dimensions)
        for (const int shift : {24, 16, 8, 0})
            bytes.push_back(static_cast<std::uint8_t>(size >> shift));
    bytes.insert(bytes.end(), array.values.begin(), array.values.end());
    return data::writeFile(path, bytes);
}

/// Edge length of painted digits, px: the same as in MNIST.
constexpr int kDigitEdge = 28;

struct Segment {
    double x1, y1, x2, y2; ///< in a box from 0 to 1 horizontally and 0 to 2 vertically
};
// Top, upper right, lower right, bottom, lower left, upper left, middle.
constexpr std::array<Segment, 7> kSegments = {
    {{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 1, 2}, {0, 2, 1, 2}, {0, 1, 0, 2}, {0, 0, 0, 1}, {0, 1, 1, 1}}};
// Bit i: segment i is lit.
constexpr std::array<unsigned, 10> kLit = {0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f};

double distance(double x, double y, const Segment& line)
{
    const double dx = line.x2 - line.x1, dy = line.y2 - line.y1;
    const double along = std::clamp(((x - line.x1) * dx + (y - line.y1) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
    return std::hypot(x - line.x1 - along * dx, y - line.y1 - along * dy);
}

/// Paints a seven-segment digit, grey on black, with random place, size, slant, thickness, brightness and noise.
/// @param digit  0 … 9
/// @param out  kDigitEdge × kDigitEdge
void paintDigit(int digit, std::uint64_t seed, std::span<std::uint8_t> out)
{
    data::Random random(seed);
    const double scale = random.real(7, 9), slant = random.real(-0.25, 0.25), thickness = random.real(0.11, 0.19);
    const double left = kDigitEdge / 2.0 - scale / 2 + random.real(-2, 2),
                 top = kDigitEdge / 2.0 - scale + random.real(-2, 2);
    const double brightness = random.real(170, 255), noise = random.real(0, 25);
    for (int row = 0; row < kDigitEdge; ++row)
        for (int column = 0; column < kDigitEdge; ++column) {
            const double y = (row + 0.5 - top) / scale, x = (column + 0.5 - left) / scale - slant * (1 - y);
            double nearest = 10;
            for (std::size_t i = 0; i < kSegments.size(); ++i)
                if ((kLit[static_cast<std::size_t>(digit)] >> i & 1U) != 0)
                    nearest = std::min(nearest, distance(x, y, kSegments[i]));
            // The edge is antialiased over one pixel.
            const double share = std::clamp((thickness - nearest) * scale + 0.5, 0.0, 1.0);
            const double value = share * brightness + random.real() * noise;
            out[static_cast<std::size_t>(row * kDigitEdge + column)] =
                static_cast<std::uint8_t>(std::min(value, 255.0));
        }
}

struct Samples {
    std::vector<std::uint8_t> pixels, labels;
    data::ImageSize size; ///< size of each image
    [[nodiscard]] std::int64_t count() const { return std::ssize(labels); }
};

/// Digits in memory, one channel.
class Mnist final : public data::Dataset {
public:
    Mnist(Samples train, Samples validation, bool normalise)
        : m_train(std::move(train)), m_validation(std::move(validation)), m_mean(normalise ? kMean : 0),
          m_deviation(normalise ? kDeviation : 1),
          m_spec(data::imageSpec(1, m_train.size.height, m_train.size.width, kClasses))
    {
        m_spec.augment = {
            .kind = data::BatchAugment::Kind::Shift, .mostShift = kMostShift, .outside = {-m_mean / m_deviation}};
    }

    [[nodiscard]] const data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return of(split).count(); }
    [[nodiscard]] std::vector<std::string> classNames() const override
    {
        return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    }
    Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const data::SampleOut& out,
                      const data::StageRecorder& stages) const override
    {
        // The file was read when the dataset was opened; a sample only needs the shift and the conversion.
        const data::StageTimer timer(stages, stages.augment, index);
        int dx = 0, dy = 0;
        if (augmentSeed != 0) {
            data::Random random(augmentSeed);
            dx = static_cast<int>(random.below(2 * kMostShift + 1) - kMostShift);
            dy = static_cast<int>(random.below(2 * kMostShift + 1) - kMostShift);
        }
        const Samples& samples = of(split);
        const auto pixels = static_cast<std::size_t>(samples.size.pixels());
        data::shiftAndNormalise({samples.pixels.data() + static_cast<std::size_t>(index) * pixels, pixels},
                                samples.size, dx, dy, m_mean, m_deviation, 0, out.input<float>());
        out.setClass(samples.labels[static_cast<std::size_t>(index)]);
        return {};
    }

private:
    [[nodiscard]] const Samples& of(Split split) const { return split == Split::Train ? m_train : m_validation; }

    Samples m_train, m_validation;
    float m_mean, m_deviation;
    data::SampleSpec m_spec;
};

/// "train-images-idx3-ubyte" or "train-images.idx3-ubyte", each with or without ".gz": all four forms are common.
Result<fs::path> findFile(const fs::path& folder, const std::string& part, int dimensions)
{
    const std::string dashed = fmt::format("{}-idx{}-ubyte", part, dimensions);
    const std::string dotted = fmt::format("{}.idx{}-ubyte", part, dimensions);
    for (const std::string& name : {dashed, dotted, dashed + ".gz", dotted + ".gz"}) {
        std::error_code error;
        if (fs::exists(folder / name, error))
            return folder / name;
        if (error)
            return profiler::fail<"dataset.mnist.unreadable", "the folder cannot be read: {why}">(
                Error::Code::Permission, folder.string(), "give your user read permission", {{"why", error.message()}});
    }
    return profiler::fail<"dataset.mnist.missing", "the file {file} (or {file}.gz) is missing">(
        Error::Code::NotFound, folder.string(), "set dataset.path to the folder with MNIST's four files",
        {{"file", dashed}});
}

Result<IdxArray> readPart(const fs::path& folder, const std::string& part, int dimensions)
{
    const auto path = findFile(folder, part, dimensions);
    if (!path)
        return tl::unexpected(path.error());
    return readIdx(*path, static_cast<std::size_t>(dimensions));
}

Result<Samples> readSamples(const fs::path& folder, const std::string& which)
{
    auto images = readPart(folder, which + "-images", 3);
    if (!images)
        return tl::unexpected(images.error());
    auto labels = readPart(folder, which + "-labels", 1);
    if (!labels)
        return tl::unexpected(labels.error());
    const auto broken = [&](profiler::Message what) {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what), (folder / which).string() + "-*",
                                    "use four files from the same source"});
    };
    const std::int64_t count = images->dimensions[0], height = images->dimensions[1], width = images->dimensions[2];
    if (count != labels->dimensions[0])
        return broken(profiler::message<"dataset.mnist.counts", "there are {images} images but {labels} labels">(
            {{"images", count}, {"labels", labels->dimensions[0]}}));
    if (count == 0 || height < 1 || width < 1 || height > kMostEdge || width > kMostEdge)
        return broken(
            profiler::message<"dataset.mnist.edge", "{images} images of {width} × {height} pixels are not supported">(
                {{"images", count}, {"width", width}, {"height", height}}));
    const auto bad =
        std::find_if(labels->values.begin(), labels->values.end(), [](auto label) { return label >= kClasses; });
    if (bad != labels->values.end())
        return broken(
            profiler::message<"dataset.mnist.label", "the label of image {image} is {label}, but MNIST has labels 0 to "
                                                     "9">({{"image", bad - labels->values.begin()}, {"label", *bad}}));
    return Samples{.pixels = std::move(images->values),
                   .labels = std::move(labels->values),
                   .size = {static_cast<int>(width), static_cast<int>(height)}};
}

/// Painted digits in MNIST's file format, with a tenth as many validation digits as training digits.
Result<void> writeDigits(const fs::path& folder, std::int64_t count, const std::stop_token& stop)
{
    for (const auto& [which, samples, seed] :
         {std::tuple("train", count, 1U), std::tuple("t10k", count / 10 + 1, 2U)}) {
        IdxArray images{.dimensions = {samples, kDigitEdge, kDigitEdge}, .values = {}};
        IdxArray labels{.dimensions = {samples}, .values = {}};
        constexpr std::size_t kPixels = std::size_t{kDigitEdge} * kDigitEdge;
        images.values.resize(static_cast<std::size_t>(samples) * kPixels);
        for (std::int64_t i = 0; i < samples; ++i) {
            if (stop.stop_requested())
                return tl::unexpected(data::cancelled(folder));
            labels.values.push_back(static_cast<std::uint8_t>(i % kClasses));
            paintDigit(static_cast<int>(i % kClasses), data::sampleSeed(seed, 0, i),
                       std::span(images.values).subspan(static_cast<std::size_t>(i) * kPixels, kPixels));
        }
        if (auto written = writeIdx(folder / (std::string(which) + "-images-idx3-ubyte"), images); !written)
            return written;
        if (auto written = writeIdx(folder / (std::string(which) + "-labels-idx1-ubyte"), labels); !written)
            return written;
    }
    return {};
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t count = config[config::key::datasetSamples];
    const auto folder = data::givenOrGenerated(
        config, fmt::format("digits-v1-{}-images", count),
        [&](const fs::path& to) { return writeDigits(to, count, stop); }, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    std::array<Samples, 2> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(*folder));
        if (progress)
            progress("reading MNIST", static_cast<std::int64_t>(i), std::ssize(parts));
        auto samples = readSamples(*folder, i == 0 ? "train" : "t10k");
        if (!samples)
            return tl::unexpected(samples.error());
        parts[i] = std::move(*samples);
    }
    if (parts[0].size != parts[1].size)
        return profiler::fail<"dataset.mnist.sizes", "training and validation images differ in size">(
            Error::Code::Malformed, folder->string(), "use four files from the same source");
    return std::make_shared<const Mnist>(std::move(parts[0]), std::move(parts[1]), config[config::key::normalize]);
}

} // namespace

data::DatasetKind mnist()
{
    return {"MNIST",
            "The four IDX files of MNIST or of a compatible dataset, plain or as .gz, in one folder. Without a folder: "
            "generated painted digits.",
            open};
}

} // namespace trainer::datasets
