#include "trainer/data/folder_dataset.h"

namespace trainer::datasets {

namespace {

profiler::Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                            const data::OpenProgress& progress, std::stop_token stop)
{
    const std::string& folder = config[config::key::datasetPath];
    if (folder.empty())
        return profiler::fail<"dataset.images.none_chosen", "no folder of images is chosen">(
            profiler::Error::Code::Invalid, "dataset.path",
            "set it to a folder that has one subfolder of images for each class");
    auto tree = data::scanImageTree(folder, config[config::key::datasetValidation], progress, std::move(stop));
    if (!tree)
        return tl::unexpected(tree.error());
    return std::make_shared<const data::FolderDataset>(
        std::move(*tree), static_cast<int>(config[config::key::imageSize]), config[config::key::normalize]);
}

} // namespace

data::DatasetKind image_folder()
{
    return {
        "Folder of images",
        "JPEG and PNG files in one subfolder for each class, or in train and val folders that have one for each class.",
        open};
}

} // namespace trainer::datasets
