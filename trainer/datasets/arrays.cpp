#include "trainer/data/archive.h"
#include "trainer/data/dataset.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/npy_file.h"
#include "trainer/data/random.h"
#include "trainer/data/rows.h"

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

// This many samples are enough to estimate mean and deviation.
constexpr std::int64_t kMeasured = 512;

std::string shapeText(const data::NpyHeader& header)
{
    return toText(data::ArraySpec{isInteger(header.type) ? data::Dtype::Int64 : data::Dtype::Float32, header.shape});
}

Result<data::DataKind> kindOf(const NpyArray& inputs)
{
    switch (inputs.header().shape.size()) {
    case 2:
        return isInteger(inputs.header().type) ? data::DataKind::Tokens : data::DataKind::Rows;
    case 3:
        return data::DataKind::Sequences;
    case 4:
        return data::DataKind::Images;
    default:
        return profiler::fail<"data.arrays.shape",
                              "models cannot use inputs of shape {shape}: 2 to 4 dimensions are required">(
            Error::Code::Invalid, inputs.where(), "reshape the array; its first dimension is the sample index",
            {{"shape", shapeText(inputs.header())}});
    }
}

struct ArrayOptions {
    std::int64_t classes = 0; ///< targets are integers below this; 0: the targets are numbers
    double validationShare = 0;
    bool normalise = true;
};

/// Two arrays with matching rows. The inputs' type and dimensions determine what a sample is.
class ArrayDataset final : public data::Dataset {
public:
    /// Errors name the file and the shapes or types that do not match; an invalid label is reported with its row if
    /// each sample has one label. Labels of single positions are checked when a sample is loaded.
    static Result<std::shared_ptr<const data::Dataset>> make(NpyArray inputs, NpyArray targets,
                                                             const ArrayOptions& options);

    [[nodiscard]] const data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(data::Split split) const override { return std::ssize(m_split.of(split)); }
    Result<void> load(data::Split split, std::int64_t index, std::uint64_t augmentSeed, const data::SampleOut& out,
                      const data::StageRecorder& stages) const override;

private:
    ArrayDataset(NpyArray inputs, NpyArray targets, const ArrayOptions& options);
    [[nodiscard]] Result<void> describe();
    [[nodiscard]] Result<void> checkLabels() const;
    Result<void> computeStatistics();
    Result<void> loadTarget(std::int64_t row, const data::SampleOut& out) const;
    [[nodiscard]] Result<void> checkClass(std::int64_t value, std::int64_t row, std::int64_t most,
                                          const NpyArray& array) const;
    void normalise(std::span<float> values) const;

    NpyArray m_inputs, m_targets;
    ArrayOptions m_options;
    data::RowSplit m_split;
    data::SampleSpec m_spec;
    bool m_byChannel = false;                ///< the features are the first dimension of a sample; otherwise the last
    data::Standardisation m_standardisation; ///< empty: values are not changed
};

ArrayDataset::ArrayDataset(NpyArray inputs, NpyArray targets, const ArrayOptions& options)
    : m_inputs(std::move(inputs)), m_targets(std::move(targets)), m_options(options)
{
}

Result<std::shared_ptr<const data::Dataset>> ArrayDataset::make(NpyArray inputs, NpyArray targets,
                                                                const ArrayOptions& options)
{
    std::shared_ptr<ArrayDataset> made(new ArrayDataset(std::move(inputs), std::move(targets), options));
    if (auto fits = made->describe(); !fits)
        return tl::unexpected(fits.error());
    if (auto labels = made->checkLabels(); !labels)
        return tl::unexpected(labels.error());
    if (auto measured = made->computeStatistics(); !measured)
        return tl::unexpected(measured.error());
    return made;
}

Result<void> ArrayDataset::describe()
{
    const auto wrong = [](const NpyArray& array, profiler::Message what, std::string hint) {
        return tl::unexpected(Error{Error::Code::Invalid, std::move(what), array.where(), std::move(hint)});
    };
    const auto kind = kindOf(m_inputs);
    if (!kind)
        return tl::unexpected(kind.error());
    if (m_inputs.samples() != m_targets.samples() || m_inputs.samples() == 0)
        return wrong(
            m_targets,
            profiler::message<"data.arrays.counts",
                              "there are {inputs} inputs ({input_shape}) but {targets} targets ({target_shape})">(
                {{"inputs", m_inputs.samples()},
                 {"input_shape", shapeText(m_inputs.header())},
                 {"targets", m_targets.samples()},
                 {"target_shape", shapeText(m_targets.header())}}),
            "save equally many inputs and targets");
    if (m_inputs.sampleBytes() == 0 || m_targets.sampleBytes() == 0)
        return wrong(m_inputs, profiler::message<"data.arrays.empty_samples", "its samples are empty">(),
                     "save arrays with values");
    const bool classes = m_options.classes > 0;
    if (classes && !isInteger(m_targets.header().type))
        return wrong(
            m_targets,
            profiler::message<"data.arrays.target_type", "targets have type {type}, but classes must be "
                                                         "integers">({{"type", toText(m_targets.header().type)}}),
            "save them with .astype('<i8'), or set dataset.target=number");
    if (*kind == data::DataKind::Tokens && !classes)
        return wrong(m_inputs,
                     profiler::message<"data.arrays.tokens",
                                       "integer rows are tokens, which cannot be used to predict numbers">(),
                     "save inputs with .astype('<f4'), or set dataset.target=class");
    m_spec.kind = *kind;
    m_spec.inputs = {
        {*kind == data::DataKind::Tokens ? data::Dtype::Int64 : data::Dtype::Float32, m_inputs.sampleShape()}};
    m_spec.target = {classes ? data::Dtype::Int64 : data::Dtype::Float32, m_targets.sampleShape()};
    m_spec.classes = m_options.classes;
    m_byChannel = *kind == data::DataKind::Images;
    m_split = data::splitRows(m_inputs.samples(), m_options.validationShare);
    return {};
}

Result<void> ArrayDataset::checkClass(std::int64_t value, std::int64_t row, std::int64_t most,
                                      const NpyArray& array) const
{
    if (value >= 0 && value < most)
        return {};
    return profiler::fail<"data.arrays.no_class", "the value {value} is not a class from 0 to {most}">(
        Error::Code::Malformed, fmt::format("{}, row {}", array.where(), row),
        "correct it, or set dataset.classes to the number of classes", {{"value", value}, {"most", most - 1}});
}

Result<void> ArrayDataset::checkLabels() const
{
    if (m_options.classes == 0 || !m_spec.target.shape.empty())
        return {};
    std::vector<std::byte> space;
    for (std::int64_t row = 0; row < m_targets.samples(); ++row) {
        const auto bytes = m_targets.read(row, space);
        if (!bytes)
            return tl::unexpected(bytes.error());
        std::int64_t label = 0;
        toInt64(m_targets.header().type, *bytes, {&label, 1});
        if (auto good = checkClass(label, row, m_options.classes, m_targets); !good)
            return good;
    }
    return {};
}

Result<void> ArrayDataset::computeStatistics()
{
    if (!m_options.normalise || m_spec.kind == data::DataKind::Tokens)
        return {};
    const auto& shape = m_spec.inputs[0].shape;
    const auto features = static_cast<std::size_t>(m_byChannel ? shape.front() : shape.back());
    const auto elements = static_cast<std::size_t>(m_spec.inputs[0].elements());
    data::FeatureStatistics statistics(features);
    std::vector<std::byte> space;
    std::vector<float> values(elements);
    const std::int64_t measured = std::min(kMeasured, std::ssize(m_split.train));
    for (std::int64_t i = 0; i < measured; ++i) {
        // Spread over the whole array, which may be sorted.
        const auto row = m_split.train[static_cast<std::size_t>(i * std::ssize(m_split.train) / measured)];
        const auto bytes = m_inputs.read(row, space);
        if (!bytes)
            return tl::unexpected(bytes.error());
        toFloat(m_inputs.header().type, *bytes, values);
        for (std::size_t j = 0; j < elements; ++j)
            statistics.add(m_byChannel ? j / (elements / features) : j % features, values[j]);
    }
    m_standardisation = statistics.standardisation();
    return {};
}

void ArrayDataset::normalise(std::span<float> values) const
{
    const std::size_t features = m_standardisation.mean.size();
    if (features == 0)
        return;
    if (!m_byChannel) {
        for (std::size_t at = 0; at < values.size(); at += features)
            m_standardisation.apply(values.subspan(at, features));
        return;
    }
    const std::size_t plane = values.size() / features;
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (values[i] - m_standardisation.mean[i / plane]) * m_standardisation.scale[i / plane];
}

Result<void> ArrayDataset::loadTarget(std::int64_t row, const data::SampleOut& out) const
{
    thread_local std::vector<std::byte> space;
    const auto bytes = m_targets.read(row, space);
    if (!bytes)
        return tl::unexpected(bytes.error());
    if (m_options.classes == 0) {
        toFloat(m_targets.header().type, *bytes, out.targets<float>());
        return {};
    }
    toInt64(m_targets.header().type, *bytes, out.targets<std::int64_t>());
    for (const std::int64_t value : out.targets<std::int64_t>())
        if (auto good = checkClass(value, row, m_options.classes, m_targets); !good)
            return good;
    return {};
}

Result<void> ArrayDataset::load(data::Split split, std::int64_t index, std::uint64_t, const data::SampleOut& out,
                                const data::StageRecorder& stages) const
{
    thread_local std::vector<std::byte> space;
    const std::int64_t row = m_split.of(split)[static_cast<std::size_t>(index)];
    Result<std::span<const std::byte>> bytes;
    {
        data::StageTimer timer(stages, stages.read, index);
        bytes = m_inputs.read(row, space);
        timer.setBytes(static_cast<std::int64_t>(m_inputs.sampleBytes()));
        if (auto target = bytes ? loadTarget(row, out) : Result<void>(); !target)
            return target;
    }
    if (!bytes)
        return tl::unexpected(bytes.error());
    const data::StageTimer timer(stages, stages.decode, index);
    if (m_spec.kind == data::DataKind::Tokens) {
        toInt64(m_inputs.header().type, *bytes, out.input<std::int64_t>());
        for (const std::int64_t token : out.input<std::int64_t>())
            if (auto good = checkClass(token, row, m_options.classes, m_inputs); !good)
                return good;
        return {};
    }
    toFloat(m_inputs.header().type, *bytes, out.input<float>());
    normalise(out.input<float>());
    return {};
}

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
    const ArrayOptions options{.classes = config[config::key::targetKind] == "class" ? classes : 0,
                               .validationShare = config[config::key::datasetValidation],
                               .normalise = config[config::key::normalize]};
    return ArrayDataset::make(std::move(*arrays->inputs), std::move(*arrays->targets), options);
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
