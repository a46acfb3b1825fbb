#include "trainer/config/training_config.h"
#include "trainer/config/value_text.h"

#include <cassert>
#include <fmt/format.h>

namespace config {

std::string ConfigError::message() const
{
    const std::string place = where.empty() ? "" : where + ": ";
    if (key.empty())
        return fmt::format("{}{}; {}", place, value, allowed);
    if (!findKnob(key))
        return fmt::format("{}{}: unknown setting; must be {}", place, key, allowed);
    return fmt::format("{}{} = {}: must be {}", place, key, value.empty() ? "''" : value, allowed);
}

TrainingConfig::TrainingConfig()
{
    for (const Knob& knob : knobs())
        m_values.emplace(knob.key, knob.fallback);
}

const Value& TrainingConfig::value(std::string_view key) const
{
    const auto found = m_values.find(key);
    assert(found != m_values.end());
    return found->second;
}

Result<void> TrainingConfig::set(std::string_view key, std::string_view text)
{
    const Knob* knob = findKnob(key);
    if (!knob)
        return tl::unexpected(ConfigError{
            "config.unknown_key", std::string(key), std::string(text), "one of the nearest: " + nearestKeys(key), {}});
    auto parsed = parseValue(*knob, text);
    if (!parsed)
        return tl::unexpected(
            ConfigError{"config.not_allowed", std::string(key), std::string(text), allowedText(*knob), {}});
    m_values.find(key)->second = std::move(*parsed);
    return {};
}

Result<void> TrainingConfig::setAssignment(std::string_view assignment)
{
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return tl::unexpected(ConfigError{"config.no_assignment",
                                          {},
                                          fmt::format("'{}' does not set anything", assignment),
                                          "write key=value, for example loader.workers=2",
                                          {}});
    return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

namespace {

// Knobs that only work on a GPU, if there is none or it is not used.
void findGpuProblems(const TrainingConfig& config, bool gpuAvailable, std::vector<ConfigError>& found)
{
    const std::string device = config[key::device];
    if (!gpuAvailable && device == "cuda")
        found.push_back({"config.no_gpu",
                         std::string(key::device.name),
                         device,
                         "cpu or auto: this machine has no usable GPU",
                         {}});
    if (gpuAvailable && device != "cpu")
        return;
    const std::string why = gpuAvailable ? " when the device is cpu: it only works on a GPU"
                                         : ": it needs a GPU, and this machine has no usable one";
    for (const Knob& knob : knobs())
        if (knob.needsGpu && config.value(knob.key) != knob.fallback)
            found.push_back(
                {"config.needs_gpu", std::string(knob.key), config.text(knob.key), toText(knob.fallback) + why, {}});
}

void findRunProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    if (config[key::checkpointEvery] > 0 && config[key::checkpointPath].empty())
        found.push_back({"config.checkpoint_folder",
                         std::string(key::checkpointPath.name),
                         "",
                         "a folder when run.checkpoint_every is set",
                         {}});
    if (config[key::compile] && (config[key::parallel] != "none" || config[key::accumulation] > 1))
        found.push_back({"config.compile_with_several_passes",
                         std::string(key::compile.name),
                         "true",
                         "false with parallel.kind or gradient.accumulation: a CUDA graph holds a single pass",
                         {}});
    if (config[key::compile] && (config[key::gradcheck] || config[key::gradgradcheck]))
        found.push_back({"config.compile_with_gradcheck",
                         std::string(key::compile.name),
                         "true",
                         "false with debug.gradcheck and debug.gradgradcheck: they move the parameters in memory, but "
                         "a CUDA graph keeps using the old addresses",
                         {}});
    if (config[key::compile] && config[key::checkpointing] != "off")
        found.push_back(
            {"config.compile_with_checkpointing",
             std::string(key::compile.name),
             "true",
             "false with checkpointing: recomputation needs the states of the random generators, which a CUDA graph "
             "does not provide",
             {}});
    if (config[key::compile] && config[key::anomaly])
        found.push_back({"config.compile_with_anomaly",
                         std::string(key::compile.name),
                         "true",
                         "false with debug.anomaly: checking each gradient waits for the device, which a CUDA graph "
                         "cannot do",
                         {}});
    if (config[key::parallel] == "dp" && config[key::checkpointing] == "cheap")
        found.push_back({"config.checkpointing_of_copies",
                         std::string(key::checkpointing.name),
                         "cheap",
                         "off or all with parallel.kind dp: the copies would choose different blocks",
                         {}});
}

void findDataProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    const std::string kind = config[key::dataset];
    if (kind == "image_folder" && config[key::datasetPath].empty())
        found.push_back({"config.dataset_folder",
                         std::string(key::datasetPath.name),
                         "",
                         fmt::format("the data folder when dataset.kind is {}", kind),
                         {}});
    if (kind == "generated_images" && config[key::datasetSamples] < config[key::datasetClasses])
        found.push_back(
            {"config.fewer_samples_than_classes",
             std::string(key::datasetSamples.name),
             config.text(key::datasetSamples.name),
             fmt::format("at least dataset.classes, {}: one image for each class", config[key::datasetClasses]),
             {}});
}

void findOptimizerProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    const std::string kind = config[key::optimizer];
    if (config[key::implementation] == "fused" && kind != "sgd" && kind != "adam" && kind != "adamw")
        found.push_back(
            {"config.no_fused_kernel",
             std::string(key::implementation.name),
             "fused",
             fmt::format("plain or foreach with optimizer.kind {}: LibTorch has no fused kernel for it", kind),
             {}});
    if (config[key::schedule] == "range_test" && config[key::rangeLowest] >= config[key::learningRate])
        found.push_back({"config.empty_range_test",
                         std::string(key::rangeLowest.name),
                         config.text(key::rangeLowest.name),
                         "below optimizer.learning_rate, the end of the range test",
                         {}});
}

} // namespace

std::vector<ConfigError> TrainingConfig::problems(bool gpuAvailable) const
{
    std::vector<ConfigError> found;
    findGpuProblems(*this, gpuAvailable, found);
    findDataProblems(*this, found);
    findOptimizerProblems(*this, found);
    findRunProblems(*this, found);
    return found;
}

const Condition* TrainingConfig::unmetCondition(const Knob& knob) const
{
    for (const Condition& condition : knob.enabledIf) {
        const std::string now = text(condition.on);
        const bool isOne = std::find(condition.values.begin(), condition.values.end(), now) != condition.values.end();
        if (isOne != condition.isOneOf)
            return &condition;
    }
    return nullptr;
}

std::vector<Difference> difference(const TrainingConfig& a, const TrainingConfig& b)
{
    std::vector<Difference> found;
    for (const Knob& knob : knobs())
        if (a.value(knob.key) != b.value(knob.key))
            found.push_back({std::string(knob.key), a.text(knob.key), b.text(knob.key)});
    return found;
}

} // namespace config
