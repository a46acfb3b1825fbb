#include "trainer/data/array_dataset.h"

#include "trainer/data/stage_timer.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainer::data {

using profiler::Error;
using profiler::Result;

namespace {

// This many samples are enough to estimate mean and deviation.
constexpr std::int64_t kMeasured = 512;

std::string shapeText(const NpyHeader& header)
{
    return toText(ArraySpec{isInteger(header.type) ? Dtype::Int64 : Dtype::Float32, header.shape});
}

Result<DataKind> kindOf(const NpyArray& inputs)
{
    switch (inputs.header().shape.size()) {
    case 2:
        return isInteger(inputs.header().type) ? DataKind::Tokens : DataKind::Rows;
    case 3:
        return DataKind::Sequences;
    case 4:
        return DataKind::Images;
    default:
        return profiler::fail<"data.arrays.shape",
                              "models cannot use inputs of shape {shape}: 2 to 4 dimensions are required">(
            Error::Code::Invalid, inputs.where(), "reshape the array; its first dimension is the sample index",
            {{"shape", shapeText(inputs.header())}});
    }
}

} // namespace

ArrayDataset::ArrayDataset(NpyArray inputs, NpyArray targets, const ArrayOptions& options)
    : m_inputs(std::move(inputs)), m_targets(std::move(targets)), m_options(options)
{
}

Result<std::shared_ptr<const Dataset>> ArrayDataset::make(NpyArray inputs, NpyArray targets,
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
    if (*kind == DataKind::Tokens && !classes)
        return wrong(m_inputs,
                     profiler::message<"data.arrays.tokens",
                                       "integer rows are tokens, which cannot be used to predict numbers">(),
                     "save inputs with .astype('<f4'), or set dataset.target=class");
    m_spec.kind = *kind;
    m_spec.inputs = {{*kind == DataKind::Tokens ? Dtype::Int64 : Dtype::Float32, m_inputs.sampleShape()}};
    m_spec.target = {classes ? Dtype::Int64 : Dtype::Float32, m_targets.sampleShape()};
    m_spec.classes = m_options.classes;
    m_byChannel = *kind == DataKind::Images;
    m_split = splitRows(m_inputs.samples(), m_options.validationShare);
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
    if (!m_options.normalise || m_spec.kind == DataKind::Tokens)
        return {};
    const auto& shape = m_spec.inputs[0].shape;
    const auto features = static_cast<std::size_t>(m_byChannel ? shape.front() : shape.back());
    const auto elements = static_cast<std::size_t>(m_spec.inputs[0].elements());
    FeatureStatistics statistics(features);
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

Result<void> ArrayDataset::loadTarget(std::int64_t row, const SampleOut& out) const
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

Result<void> ArrayDataset::load(Split split, std::int64_t index, std::uint64_t, const SampleOut& out,
                                const StageRecorder& stages) const
{
    thread_local std::vector<std::byte> space;
    const std::int64_t row = m_split.of(split)[static_cast<std::size_t>(index)];
    Result<std::span<const std::byte>> bytes;
    {
        StageTimer timer(stages, stages.read, index);
        bytes = m_inputs.read(row, space);
        timer.setBytes(static_cast<std::int64_t>(m_inputs.sampleBytes()));
        if (auto target = bytes ? loadTarget(row, out) : Result<void>(); !target)
            return target;
    }
    if (!bytes)
        return tl::unexpected(bytes.error());
    const StageTimer timer(stages, stages.decode, index);
    if (m_spec.kind == DataKind::Tokens) {
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

} // namespace trainer::data
