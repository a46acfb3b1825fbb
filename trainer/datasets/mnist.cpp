#include "trainer/data/dataset_kind.h"
#include "trainer/data/digit_painter.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/idx_file.h"
#include "trainer/data/random.h"
#include "trainer/data/resample.h"
#include "trainer/data/stage_timer.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

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

Result<data::IdxArray> readPart(const fs::path& folder, const std::string& part, int dimensions)
{
    const auto path = findFile(folder, part, dimensions);
    if (!path)
        return tl::unexpected(path.error());
    return data::readIdx(*path, static_cast<std::size_t>(dimensions));
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
        data::IdxArray images{.dimensions = {samples, data::kDigitEdge, data::kDigitEdge}, .values = {}};
        data::IdxArray labels{.dimensions = {samples}, .values = {}};
        constexpr std::size_t kPixels = std::size_t{data::kDigitEdge} * data::kDigitEdge;
        images.values.resize(static_cast<std::size_t>(samples) * kPixels);
        for (std::int64_t i = 0; i < samples; ++i) {
            if (stop.stop_requested())
                return tl::unexpected(data::cancelled(folder));
            labels.values.push_back(static_cast<std::uint8_t>(i % kClasses));
            data::paintDigit(static_cast<int>(i % kClasses), data::sampleSeed(seed, 0, i),
                             std::span(images.values).subspan(static_cast<std::size_t>(i) * kPixels, kPixels));
        }
        if (auto written = data::writeIdx(folder / (std::string(which) + "-images-idx3-ubyte"), images); !written)
            return written;
        if (auto written = data::writeIdx(folder / (std::string(which) + "-labels-idx1-ubyte"), labels); !written)
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
