#include "trainer/data/image_folder.h"

namespace trainer::datasets {

namespace {

profiler::Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                            const data::OpenProgress& progress, std::stop_token stop)
{
    const std::string& folder = config[config::key::datasetPath];
    if (folder.empty())
        return profiler::fail<"dataset.images.none_chosen", "no image folder is chosen">(
            profiler::Error::Code::Invalid, "dataset.path",
            "set it to a folder with one subfolder of images per class");
    auto tree = data::scanImageTree(folder, config[config::key::datasetValidation], progress, std::move(stop));
    if (!tree)
        return tl::unexpected(tree.error());
    return std::make_shared<const data::FolderDataset>(
        std::move(*tree), static_cast<int>(config[config::key::imageSize]), config[config::key::normalize]);
}

} // namespace

data::DatasetKind image_folder()
{
    return {"Image folder",
            "JPEG and PNG files in one subfolder per class, or in train and val folders with one subfolder per class.",
            open};
}

} // namespace trainer::datasets
