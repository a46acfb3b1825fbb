#include "trainer/data/archive.h"
#include "trainer/data/dataset.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/image_decoder.h"
#include "trainer/data/image_painter.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

constexpr std::int64_t kGeneratedShards = 10;
constexpr int kQuality = 90;

/// Parameters of the generated data.
struct Wanted {
    std::int64_t samples = 0, classes = 0;
    int edge = 0;
};

/// Painted images in tar files, distributed so that each file has all classes.
Result<void> writeShards(const fs::path& folder, const Wanted& wanted, const data::OpenProgress& progress,
                         const std::stop_token& stop)
{
    data::RgbImage image;
    std::int64_t index = 0;
    for (std::int64_t shard = 0; shard < kGeneratedShards; ++shard) {
        std::vector<data::ArchiveFile> files;
        for (const std::int64_t end = wanted.samples * (shard + 1) / kGeneratedShards; index < end; ++index) {
            if (stop.stop_requested())
                return tl::unexpected(data::cancelled(folder));
            if (progress && index % 64 == 0)
                progress("writing a stream of images", index, wanted.samples);
            const std::int64_t label = index % wanted.classes;
            data::paintImage(label, data::sampleSeed(5, 0, index), wanted.edge, image);
            auto jpeg = data::encodeJpeg(image, kQuality);
            if (!jpeg)
                return tl::unexpected(jpeg.error());
            const std::string key = fmt::format("{:06}", index), text = std::to_string(label);
            files.push_back({key + ".jpg", std::move(*jpeg)});
            files.push_back({key + ".cls", {text.begin(), text.end()}});
        }
        if (auto written = data::writeTar(folder / fmt::format("shard-{:04}.tar", shard), files); !written)
            return written;
    }
    return {};
}

bool isTar(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz") || name.ends_with(".tar.zst");
}

std::vector<fs::path> tarsIn(const fs::path& folder)
{
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
        if (isTar(at->path()))
            found.push_back(at->path());
    std::sort(found.begin(), found.end());
    return found;
}

struct Shards {
    std::vector<fs::path> train, validation;
};

/// Folders train and val, or one folder whose last files are for validation.
Result<Shards> findShards(const fs::path& folder, double validationShare)
{
    Shards shards{tarsIn(folder / "train"), tarsIn(folder / "val")};
    if (!shards.train.empty())
        return shards;
    shards.train = tarsIn(folder);
    if (shards.train.empty())
        return profiler::fail<"dataset.stream.no_tar", "there is no .tar file in the folder">(
            Error::Code::NotFound, folder.string(),
            "set dataset.path to a folder of tar files with images and .cls files");
    const auto count = std::ssize(shards.train);
    const auto validating =
        std::min<std::int64_t>(std::llround(static_cast<double>(count) * validationShare), count - 1);
    shards.validation.assign(shards.train.end() - validating, shards.train.end());
    shards.train.resize(static_cast<std::size_t>(count - validating));
    return shards;
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const Wanted wanted{config[config::key::datasetSamples], config[config::key::datasetClasses],
                        static_cast<int>(config[config::key::datasetSourceSize])};
    const auto folder = data::givenOrGenerated(
        config, fmt::format("stream-v1-{}-images-{}-classes-{}-px", wanted.samples, wanted.classes, wanted.edge),
        [&](const fs::path& to) { return writeShards(to, wanted, progress, stop); }, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    auto found = findShards(*folder, config[config::key::datasetValidation]);
    if (!found)
        return tl::unexpected(found.error());
    auto train = data::countShards(std::move(found->train)),
         validation = data::countShards(std::move(found->validation));
    if (!train || !validation)
        return tl::unexpected(train ? validation.error() : train.error());
    const data::ImageView view{static_cast<int>(config[config::key::imageSize]),
                               config[config::key::normalize] ? data::kImageNet : data::kUnchanged};
    return std::make_shared<const data::TarStream>(std::move(*train), std::move(*validation), wanted.classes, view);
}

} // namespace

data::DatasetKind stream()
{
    return {"Stream of tar files",
            "Images and their classes (.cls) in tar files, read sequentially in WebDataset's layout; each worker reads "
            "its own part. Without a folder: generated painted images in the same format.",
            open};
}

} // namespace trainer::datasets
