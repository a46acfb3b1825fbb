#include "trainer/data/generated_folder.h"
#include "trainer/data/image_folder.h"

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using profiler::Result;

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::string& chosen = config[config::key::datasetPath];
    const auto base = chosen.empty() ? data::cacheFolder() : Result<fs::path>(chosen);
    if (!base)
        return tl::unexpected(base.error());
    const data::ImageSet set{.samples = config[config::key::datasetSamples],
                             .classes = config[config::key::datasetClasses],
                             .edge = static_cast<int>(config[config::key::datasetSourceSize])};
    const auto folder = data::makeImageSet(*base, set, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    auto tree = data::scanImageTree(*folder, config[config::key::datasetValidation], progress, std::move(stop));
    if (!tree)
        return tl::unexpected(tree.error());
    return std::make_shared<const data::FolderDataset>(
        std::move(*tree), static_cast<int>(config[config::key::imageSize]), config[config::key::normalize]);
}

} // namespace

data::DatasetKind generated_images()
{
    return {"Generated images",
            "JPEG files of painted shapes and patterns, generated once: real files that cost as much to read and "
            "decode as photographs, with classes that a small network can learn.",
            open};
}

} // namespace trainer::datasets
