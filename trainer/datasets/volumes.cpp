#include "trainer/data/dataset_kind.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/random.h"
#include "trainer/data/volume_dataset.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

// Enough volumes to demonstrate the training; each is a separate file.
constexpr std::int64_t kMostGenerated = 64;
constexpr std::int64_t kGeneratedEdge = 48;
constexpr int kBodies = 4;

/// An ellipsoid of one class.
struct Body {
    std::int64_t label;
    double centre[3], radius[3];
    [[nodiscard]] bool holds(double z, double y, double x) const
    {
        const double place[3] = {z, y, x};
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis)
            sum += std::pow((place[axis] - centre[axis]) / radius[axis], 2);
        return sum <= 1;
    }
};

/// Ellipsoids in noise: higher classes are brighter.
void paintVolume(std::uint64_t seed, std::int64_t classes, data::Volume& image, data::Volume& labels)
{
    data::Random random(seed);
    std::vector<Body> bodies(kBodies);
    for (Body& body : bodies) {
        body.label = 1 + random.below(static_cast<std::uint32_t>(classes - 1));
        for (int axis = 0; axis < 3; ++axis) {
            body.centre[axis] = random.real(0.2, 0.8) * kGeneratedEdge;
            body.radius[axis] = random.real(0.1, 0.25) * kGeneratedEdge;
        }
    }
    for (data::Volume* volume : {&image, &labels}) {
        volume->channels = 1;
        volume->size = {kGeneratedEdge, kGeneratedEdge, kGeneratedEdge};
        volume->values.assign(static_cast<std::size_t>(volume->voxels()), 0);
    }
    std::size_t index = 0;
    for (std::int64_t z = 0; z < kGeneratedEdge; ++z)
        for (std::int64_t y = 0; y < kGeneratedEdge; ++y)
            for (std::int64_t x = 0; x < kGeneratedEdge; ++x, ++index) {
                std::int64_t label = 0;
                for (const Body& body : bodies)
                    if (body.holds(static_cast<double>(z), static_cast<double>(y), static_cast<double>(x)))
                        label = body.label;
                labels.values[index] = static_cast<float>(label);
                image.values[index] = static_cast<float>(
                    100 + 300.0 * static_cast<double>(label) / static_cast<double>(classes - 1) + random.real(-60, 60));
            }
}

Result<void> writeVolumes(const fs::path& folder, std::int64_t count, std::int64_t classes,
                          const data::OpenProgress& progress, const std::stop_token& stop)
{
    std::error_code ignored; // an error shows when the first file is written
    fs::create_directory(folder / "images", ignored);
    fs::create_directory(folder / "labels", ignored);
    data::Volume image, labels;
    for (std::int64_t i = 0; i < count; ++i) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(folder));
        if (progress)
            progress("writing volumes", i, count);
        paintVolume(data::sampleSeed(3, 0, i), classes, image, labels);
        const std::string name = fmt::format("volume_{:03}.nii.gz", i);
        if (auto written = data::writeNifti(folder / "images" / name, image, false); !written)
            return written;
        if (auto written = data::writeNifti(folder / "labels" / name, labels, true); !written)
            return written;
    }
    return {};
}

bool isVolume(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.ends_with(".nii") || name.ends_with(".nii.gz") || name.ends_with(".npy");
}

Result<std::vector<data::VolumeFiles>> findVolumes(const fs::path& folder)
{
    std::vector<data::VolumeFiles> found;
    std::error_code error;
    for (fs::directory_iterator at(folder / "images", error); !error && at != fs::directory_iterator();
         at.increment(error))
        if (isVolume(at->path()))
            found.push_back({at->path(), folder / "labels" / at->path().filename()});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.image < b.image; });
    if (found.empty())
        return profiler::fail<"dataset.volumes.no_file", "there is no .nii, .nii.gz or .npy file in its folder "
                                                         "'images'">(
            Error::Code::NotFound, folder.string(),
            "set dataset.path to a folder with subfolders images and labels, which contain files of the same names");
    for (const data::VolumeFiles& files : found)
        if (!fs::exists(files.labels, error))
            return profiler::fail<"dataset.volumes.no_labels", "the volume has no labels: {labels}">(
                Error::Code::NotFound, files.image.string(), "add this file or remove the volume",
                {{"labels", files.labels.string()}});
    return found;
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t classes = config[config::key::datasetClasses];
    const std::int64_t count = std::min(config[config::key::datasetSamples], kMostGenerated);
    const auto folder = data::givenOrGenerated(
        config, fmt::format("ellipsoids-v1-{}-volumes-{}-classes", count, classes),
        [&](const fs::path& to) { return writeVolumes(to, count, classes, progress, stop); }, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    auto files = findVolumes(*folder);
    if (!files)
        return tl::unexpected(files.error());
    return data::VolumeDataset::make(std::move(*files), {.classes = classes,
                                                         .edge = config[config::key::volumeSize],
                                                         .validationShare = config[config::key::datasetValidation],
                                                         .normalise = config[config::key::normalize],
                                                         .placeOnly = config[config::key::augmentOnDevice]});
}

} // namespace

data::DatasetKind volumes()
{
    return {"Volumes",
            "NIfTI or NumPy files in a folder 'images', and files of the same names in a folder 'labels' with the "
            "class of each voxel. Without a folder: up to 64 generated volumes of ellipsoids in noise.",
            open};
}

} // namespace trainer::datasets
