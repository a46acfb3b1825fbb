#include "trainer/data/volume_dataset.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/npy_file.h"
#include "trainer/data/stage_timer.h"
#include "trainer/data/statistics.h"
#include "trainer/data/volume_crop.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainer::data {

using profiler::Error;
using profiler::Result;

namespace {

constexpr std::size_t kMostBytes = static_cast<std::size_t>(kMostVoxels) * 8 + 1024;

Result<void> fromNpy(std::span<const std::uint8_t> bytes, const std::string& where, Volume& out)
{
    const auto raw = std::as_bytes(bytes);
    const auto header = parseNpyHeader(raw.first(std::min(raw.size(), kNpyHead)), where);
    if (!header)
        return tl::unexpected(header.error());
    const auto& shape = header->shape;
    if ((shape.size() != 3 && shape.size() != 4) || header->elements() < 1 || header->elements() > kMostVoxels)
        return profiler::fail<"data.volume.shape", "its shape is {shape}">(
            Error::Code::Invalid, where, "save it as depth × height × width, or with channels before these",
            {{"shape", fmt::format("{}", fmt::join(shape, " × "))}});
    if (raw.size() != header->dataOffset + header->dataBytes())
        return profiler::fail<"data.volume.length", "the header declares {wanted} bytes, but the file has {have}">(
            Error::Code::Malformed, where, "save or copy the array again",
            {{"wanted", header->dataOffset + header->dataBytes()}, {"have", raw.size()}});
    std::copy(shape.end() - 3, shape.end(), out.size.begin());
    out.channels = shape.size() == 4 ? shape[0] : 1;
    out.values.resize(static_cast<std::size_t>(header->elements()));
    toFloat(header->type, raw.subspan(header->dataOffset), out.values);
    return {};
}

/// Scales to mean 0 and deviation 1 over the volume: intensities of different scanners have no common unit.
void standardise(Volume& volume)
{
    FeatureStatistics statistics(1);
    for (const float value : volume.values)
        statistics.add(0, value);
    const Standardisation standardisation = statistics.standardisation();
    for (float& value : volume.values)
        standardisation.apply({&value, 1});
}

Result<void> checkLabels(const Volume& image, const Volume& labels, std::int64_t classes, const VolumeFiles& files)
{
    const auto wrong = [&](profiler::Message what, std::string hint) {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what), files.labels.string(), std::move(hint)});
    };
    if (labels.channels != 1 || labels.size != image.size)
        return wrong(
            profiler::message<"data.volume.labels",
                              "it has {voxels} voxels in {channels} channels, but its image has {image_voxels} "
                              "({image})">({{"voxels", fmt::format("{}", fmt::join(labels.size, " × "))},
                                            {"channels", labels.channels},
                                            {"image_voxels", fmt::format("{}", fmt::join(image.size, " × "))},
                                            {"image", files.image.string()}}),
            "use the labels that belong to the image");
    const auto most = static_cast<float>(classes);
    const auto bad = std::find_if(labels.values.begin(), labels.values.end(),
                                  [&](float value) { return !(value >= 0 && value < most); });
    if (bad == labels.values.end())
        return {};
    const std::int64_t at = bad - labels.values.begin();
    return wrong(profiler::message<
                     "data.volume.no_class",
                     "the label {label} at depth {depth}, row {row}, column {column} is not a class from 0 to {most}">(
                     {{"label", *bad, fmt::format("{}", *bad)},
                      {"depth", at / (labels.size[1] * labels.size[2])},
                      {"row", at / labels.size[2] % labels.size[1]},
                      {"column", at % labels.size[2]},
                      {"most", classes - 1}}),
                 "correct it, or set dataset.classes to the number of classes");
}

} // namespace

/// Memory that a thread reuses from sample to sample.
struct VolumeDataset::Workspace {
    std::vector<std::uint8_t> imageFile, labelFile, space;
    Volume image, labels;
};

Result<void> readVolume(const std::filesystem::path& path, std::span<const std::uint8_t> file,
                        std::vector<std::uint8_t>& space, Volume& out)
{
    const std::string where = path.string();
    if (path.extension() == ".npy")
        return fromNpy(file, where, out);
    const auto bytes = inflated(file, space, kMostBytes, where);
    if (!bytes)
        return tl::unexpected(bytes.error());
    return parseNifti(*bytes, where, out);
}

VolumeDataset::VolumeDataset(std::vector<VolumeFiles> files, const VolumeOptions& options, std::int64_t channels)
    : m_files(std::move(files)), m_options(options), m_split(splitRows(std::ssize(m_files), options.validationShare))
{
    const std::int64_t edge = options.edge;
    m_spec.kind = DataKind::Volumes;
    m_spec.inputs = {{Dtype::Float32, {channels, edge, edge, edge}}};
    m_spec.target = {Dtype::Int64, {edge, edge, edge}};
    m_spec.classes = options.classes;
    m_spec.augment.kind = BatchAugment::Kind::Turn;
}

Result<std::shared_ptr<const Dataset>> VolumeDataset::make(std::vector<VolumeFiles> files, const VolumeOptions& options)
{
    Workspace space;
    if (auto read = readFile(files.front().image, space.imageFile); !read)
        return tl::unexpected(read.error());
    if (auto parsed = readVolume(files.front().image, space.imageFile, space.space, space.image); !parsed)
        return tl::unexpected(parsed.error());
    return std::shared_ptr<const Dataset>(new VolumeDataset(std::move(files), options, space.image.channels));
}

Result<void> VolumeDataset::read(Workspace& space, const VolumeFiles& files, std::int64_t index,
                                 const StageRecorder& stages) const
{
    {
        StageTimer timer(stages, stages.read, index);
        if (auto read = readFile(files.image, space.imageFile); !read)
            return read;
        if (auto read = readFile(files.labels, space.labelFile); !read)
            return read;
        timer.setBytes(std::ssize(space.imageFile) + std::ssize(space.labelFile));
    }
    const StageTimer timer(stages, stages.decode, index);
    if (auto parsed = readVolume(files.image, space.imageFile, space.space, space.image); !parsed)
        return parsed;
    if (auto parsed = readVolume(files.labels, space.labelFile, space.space, space.labels); !parsed)
        return parsed;
    if (space.image.channels != m_spec.inputs[0].shape[0])
        return profiler::fail<"data.volume.channels", "it has {channels} channels, but the first volume has {first}">(
            Error::Code::Malformed, files.image.string(), "put volumes with other channels into another folder",
            {{"channels", space.image.channels}, {"first", m_spec.inputs[0].shape[0]}});
    if (auto good = checkLabels(space.image, space.labels, m_options.classes, files); !good)
        return good;
    if (m_options.normalise)
        standardise(space.image);
    return {};
}

Result<void> VolumeDataset::load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                 const StageRecorder& stages) const
{
    thread_local Workspace space;
    const auto file = static_cast<std::size_t>(m_split.of(split)[static_cast<std::size_t>(index)]);
    if (auto loaded = read(space, m_files[file], index, stages); !loaded)
        return loaded;
    const StageTimer timer(stages, stages.augment, index);
    const VolumeView view = augmentSeed == 0      ? centreView(space.image)
                            : m_options.placeOnly ? randomPlace(space.image, m_options.edge, augmentSeed)
                                                  : randomView(space.image, m_options.edge, augmentSeed);
    cutValues(space.image, view, m_options.edge, out.input<float>());
    cutLabels(space.labels, view, m_options.edge, out.targets<std::int64_t>());
    return {};
}

} // namespace trainer::data
