#include "trainer/data/archive.h"
#include "trainer/data/array_dataset.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/npy_file.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/ranges.h>
#include <functional>
#include <numbers>
#include <optional>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using data::NpyArray;
using profiler::Error;
using profiler::Result;

constexpr std::array<std::string_view, 5> kInputNames = {"inputs", "x", "X", "data", "images"};
constexpr std::array<std::string_view, 4> kTargetNames = {"targets", "y", "labels", "label"};
constexpr std::size_t kMostInArchive = std::size_t{4} << 30;
constexpr std::int64_t kTimes = 48, kFeatures = 4;

struct Arrays {
    std::optional<NpyArray> inputs, targets;
};

template <class Names>
bool isOneOf(const Names& names, std::string_view stem)
{
    return std::find(names.begin(), names.end(), stem) != names.end();
}

Result<void> place(Arrays& arrays, const std::string& stem, const std::function<Result<NpyArray>()>& open)
{
    std::optional<NpyArray>* place = isOneOf(kInputNames, stem)    ? &arrays.inputs
                                     : isOneOf(kTargetNames, stem) ? &arrays.targets
                                                                   : nullptr;
    if (!place || *place)
        return {};
    auto array = open();
    if (!array)
        return tl::unexpected(array.error());
    *place = std::move(*array);
    return {};
}

/// An .npz file is a zip archive of .npy files.
Result<void> readArchive(const fs::path& path, Arrays& arrays)
{
    auto archive = data::ArchiveReader::open(path);
    if (!archive)
        return tl::unexpected(archive.error());
    std::vector<std::uint8_t> bytes;
    for (;;) {
        const auto name = archive->next();
        if (!name)
            return tl::unexpected(name.error());
        if (!*name)
            return {};
        auto placed = place(arrays, fs::path(**name).stem().string(), [&]() -> Result<NpyArray> {
            if (auto read = archive->read(bytes, kMostInArchive); !read)
                return tl::unexpected(read.error());
            const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
            return NpyArray::fromBytes({begin, begin + bytes.size()}, path.string() + ":" + **name);
        });
        if (!placed)
            return placed;
    }
}

Result<void> readFolder(const fs::path& path, Arrays& arrays)
{
    for (const auto& names :
         {std::span<const std::string_view>(kInputNames), std::span<const std::string_view>(kTargetNames)})
        for (const std::string_view name : names) {
            const fs::path file = path / (std::string(name) + ".npy");
            std::error_code error;
            if (!fs::exists(file, error))
                continue;
            if (auto placed = place(arrays, std::string(name), [&] { return NpyArray::open(file); }); !placed)
                return placed;
        }
    return {};
}

Result<Arrays> find(const fs::path& path)
{
    Arrays arrays;
    std::error_code error;
    const bool isFolder = fs::is_directory(path, error);
    if (auto read = isFolder ? readFolder(path, arrays) : readArchive(path, arrays); !read)
        return tl::unexpected(read.error());
    if (arrays.inputs && arrays.targets)
        return arrays;
    return profiler::fail<"dataset.arrays.missing", "there is no array of {what}: none has the name {names}">(
        Error::Code::NotFound, path.string(),
        "set dataset.path to a folder with inputs.npy and targets.npy, or to an .npz file with both",
        {{"what", arrays.inputs ? "targets" : "inputs"},
         {"names", fmt::format("{}", arrays.inputs ? fmt::join(kTargetNames, ", ") : fmt::join(kInputNames, ", "))}});
}

/// Sequences of measurements: a noisy wave whose frequency is the class.
Result<void> writeWaves(const fs::path& folder, std::int64_t samples, std::int64_t classes, const std::stop_token& stop)
{
    std::vector<float> inputs;
    std::vector<std::int64_t> targets;
    data::Random random(1);
    for (std::int64_t i = 0; i < samples; ++i) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(folder));
        const std::int64_t label = i % classes;
        const double cycles = 1 + static_cast<double>(label) * 16 / static_cast<double>(classes);
        const double phase = random.real(0, 2 * std::numbers::pi);
        for (std::int64_t time = 0; time < kTimes; ++time)
            for (std::int64_t feature = 0; feature < kFeatures; ++feature) {
                const double angle = phase + 2 * std::numbers::pi * cycles * static_cast<double>(time) / kTimes +
                                     static_cast<double>(feature) * std::numbers::pi / 2;
                inputs.push_back(static_cast<float>(std::sin(angle) + random.real(-0.5, 0.5)));
            }
        targets.push_back(label);
    }
    if (auto written = data::writeNpy(folder / "inputs.npy", data::NpyType::Float32, {samples, kTimes, kFeatures},
                                      std::as_bytes(std::span(inputs)));
        !written)
        return written;
    return data::writeNpy(folder / "targets.npy", data::NpyType::Int64, {samples}, std::as_bytes(std::span(targets)));
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t samples = config[config::key::datasetSamples], classes = config[config::key::datasetClasses];
    const auto path = data::givenOrGenerated(
        config, fmt::format("waves-v1-{}-samples-{}-classes", samples, classes),
        [&](const fs::path& to) { return writeWaves(to, samples, classes, stop); }, progress, stop);
    if (!path)
        return tl::unexpected(path.error());
    auto arrays = find(*path);
    if (!arrays)
        return tl::unexpected(arrays.error());
    const data::ArrayOptions options{.classes = config[config::key::targetKind] == "class" ? classes : 0,
                                     .validationShare = config[config::key::datasetValidation],
                                     .normalise = config[config::key::normalize]};
    return data::ArrayDataset::make(std::move(*arrays->inputs), std::move(*arrays->targets), options);
}

} // namespace

data::DatasetKind arrays()
{
    return {"NumPy arrays",
            "inputs.npy and targets.npy in a folder, or both in an .npz file; the first dimension is the sample index. "
            "Two-dimensional arrays of floats are table rows, of integers tokens; three dimensions are sequences, four "
            "images. Without a path: generated sequences.",
            open};
}

} // namespace trainer::datasets
