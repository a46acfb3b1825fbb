#include "trainer/data/dataset.h"
#include "trainer/data/file_bytes.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/image_painter.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

// Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009; the "binary version" of the files.
namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using data::Split;
using profiler::Error;
using profiler::Result;

constexpr int kEdge = 32, kPlanes = 3, kPixels = kEdge * kEdge;
constexpr std::size_t kRecord = 1 + kPlanes * kPixels; // the label, then red, green and blue
constexpr std::int64_t kClasses = 10;
constexpr int kTrainFiles = 5;
constexpr int kMostShift = 4; // px
constexpr std::array<float, 3> kMean = {0.4914F, 0.4822F, 0.4465F}, kDeviation = {0.2470F, 0.2435F, 0.2616F};

/// How the model sees an image: shifted, and possibly flipped.
struct View {
    int dx = 0, dy = 0;
    bool mirrored = false;
};

class Cifar10 final : public data::Dataset {
public:
    Cifar10(std::vector<std::uint8_t> train, std::vector<std::uint8_t> validation, bool normalise)
        : m_train(std::move(train)), m_validation(std::move(validation)), m_normalise(normalise),
          m_spec(data::imageSpec(kPlanes, kEdge, kEdge, kClasses))
    {
        m_spec.augment = {.kind = data::BatchAugment::Kind::Shift, .mostShift = kMostShift, .mirrors = true};
        for (std::size_t plane = 0; plane < kPlanes; ++plane)
            m_spec.augment.outside.push_back(bias(plane));
    }

    [[nodiscard]] const data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override
    {
        return std::ssize(of(split)) / static_cast<std::int64_t>(kRecord);
    }
    [[nodiscard]] std::vector<std::string> classNames() const override
    {
        return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
    }
    Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const data::SampleOut& out,
                      const data::StageRecorder& stages) const override
    {
        // The files were read when the dataset was opened; a sample only needs the shift and the conversion.
        const data::StageTimer timer(stages, stages.augment, index);
        View view;
        if (augmentSeed != 0) {
            data::Random random(augmentSeed);
            view = {static_cast<int>(random.below(2 * kMostShift + 1)) - kMostShift,
                    static_cast<int>(random.below(2 * kMostShift + 1)) - kMostShift, random.coin()};
        }
        const std::uint8_t* record = of(split).data() + static_cast<std::size_t>(index) * kRecord;
        for (std::size_t plane = 0; plane < kPlanes; ++plane)
            show(record + 1 + plane * kPixels, view, plane, out.input<float>().data() + plane * kPixels);
        out.setClass(record[0]);
        return {};
    }

private:
    [[nodiscard]] const std::vector<std::uint8_t>& of(Split split) const
    {
        return split == Split::Train ? m_train : m_validation;
    }
    /// The normalised value of black.
    [[nodiscard]] float bias(std::size_t plane) const { return m_normalise ? -kMean[plane] / kDeviation[plane] : 0; }
    /// The border around the shifted image is black.
    void show(const std::uint8_t* from, const View& view, std::size_t plane, float* to) const
    {
        const float scale = m_normalise ? 1 / (255 * kDeviation[plane]) : 1.0F / 255;
        const float black = bias(plane);
        for (int y = 0; y < kEdge; ++y)
            for (int x = 0; x < kEdge; ++x) {
                const int column = (view.mirrored ? kEdge - 1 - x : x) + view.dx, row = y + view.dy;
                const bool inside = column >= 0 && column < kEdge && row >= 0 && row < kEdge;
                *to++ = (inside ? static_cast<float>(from[row * kEdge + column]) : 0.0F) * scale + black;
            }
    }

    std::vector<std::uint8_t> m_train, m_validation; ///< records
    bool m_normalise;
    data::SampleSpec m_spec;
};

Result<void> writeFilesOf(const fs::path& folder, const std::string& name, std::int64_t first, std::int64_t count)
{
    std::vector<std::uint8_t> bytes;
    bytes.reserve(static_cast<std::size_t>(count) * kRecord);
    data::RgbImage image;
    for (std::int64_t i = first; i < first + count; ++i) {
        data::paintImage(i % kClasses, data::sampleSeed(1, 0, i), kEdge, image);
        bytes.push_back(static_cast<std::uint8_t>(i % kClasses));
        for (std::size_t plane = 0; plane < kPlanes; ++plane)
            for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
                bytes.push_back(image.pixels()[pixel * kPlanes + plane]);
    }
    return data::writeFile(folder / name, bytes);
}

/// Painted images in CIFAR-10's file format: equally many in each of the six files.
Result<void> writeImages(const fs::path& folder, std::int64_t samples, const std::stop_token& stop)
{
    const std::int64_t each = std::max<std::int64_t>(samples / kTrainFiles, 1);
    for (int file = 1; file <= kTrainFiles + 1; ++file) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(folder));
        const std::string name = file <= kTrainFiles ? fmt::format("data_batch_{}.bin", file) : "test_batch.bin";
        if (auto written = writeFilesOf(folder, name, file * each, each); !written)
            return written;
    }
    return {};
}

Result<void> appendFile(const fs::path& path, std::vector<std::uint8_t>& records)
{
    std::vector<std::uint8_t> bytes;
    if (auto read = data::readFile(path, bytes); !read) {
        read.error().hint =
            "set dataset.path to the folder with the binary version's data_batch_1.bin … test_batch.bin";
        return read;
    }
    if (bytes.empty() || bytes.size() % kRecord != 0)
        return profiler::fail<"dataset.cifar10.length", "the file has {bytes} bytes, which is not a whole number of "
                                                        "images ({image_bytes} bytes each): it ends in image {image}">(
            Error::Code::Malformed, path.string(), "download or unpack the file again",
            {{"bytes", bytes.size()}, {"image_bytes", kRecord}, {"image", bytes.size() / kRecord}});
    for (std::size_t i = 0; i < bytes.size(); i += kRecord)
        if (bytes[i] >= kClasses)
            return profiler::fail<"dataset.cifar10.label",
                                  "the label of image {image} is {label}, but CIFAR-10 has labels 0 to 9">(
                Error::Code::Malformed, path.string(), "use the binary version of CIFAR-10, not of CIFAR-100",
                {{"image", i / kRecord}, {"label", bytes[i]}});
    records.insert(records.end(), bytes.begin(), bytes.end());
    return {};
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t samples = config[config::key::datasetSamples];
    auto folder = data::givenOrGenerated(
        config, fmt::format("painted-cifar-v1-{}-images", samples),
        [&](const fs::path& to) { return writeImages(to, samples, stop); }, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    std::error_code ignored;
    if (fs::exists(*folder / "cifar-10-batches-bin", ignored))
        *folder /= "cifar-10-batches-bin";
    std::vector<std::uint8_t> train, validation;
    for (int file = 1; file <= kTrainFiles; ++file) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(*folder));
        if (progress)
            progress("reading CIFAR-10", file - 1, kTrainFiles + 1);
        if (auto read = appendFile(*folder / fmt::format("data_batch_{}.bin", file), train); !read)
            return tl::unexpected(read.error());
    }
    if (auto read = appendFile(*folder / "test_batch.bin", validation); !read)
        return tl::unexpected(read.error());
    return std::make_shared<const Cifar10>(std::move(train), std::move(validation), config[config::key::normalize]);
}

} // namespace

data::DatasetKind cifar10()
{
    return {"CIFAR-10",
            "The six files of CIFAR-10's binary version in one folder. Without a folder: generated painted images in "
            "the same format.",
            open};
}

} // namespace trainer::datasets
