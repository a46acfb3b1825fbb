#include "trainer/workloads/parts/options.h"

#include "stepscope_training_workloads_registry.h"
#include "trainer/workloads/network.h"

#include <algorithm>
#include <string>

namespace trainer {

namespace key = config::key;
using profiler::Error;
using profiler::Result;

namespace {

Workload workload(const config::TrainingConfig& config)
{
    for (const auto& [stem, entry] : workloads::all())
        if (stem == config[key::workload])
            return entry;
    // The knob table has a workload without a file.
    throw std::logic_error("no file defines '" + config[key::workload] + "'");
}

std::string listed(const std::vector<data::DataKind>& kinds)
{
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == kinds.size() ? " or " : ", ") + std::string(toText(kinds[i]));
    return text;
}

ModelSize sizeOf(const std::string& name)
{
    if (name == "tiny")
        return ModelSize::Tiny;
    if (name == "small")
        return ModelSize::Small;
    return name == "base" ? ModelSize::Base : ModelSize::Large;
}

} // namespace

ModelOptions modelOptions(const config::TrainingConfig& config, const data::SampleSpec& spec)
{
    ModelOptions options;
    options.data = spec;
    options.size = sizeOf(config[key::modelSize]);
    options.width = config[key::modelWidth];
    options.depth = config[key::modelDepth];
    const std::string& norm = config[key::modelNorm];
    options.norm = norm == "batch" ? NormKind::Batch : norm == "group" ? NormKind::Group : NormKind::None;
    options.layerBias = config[key::convBias];
    options.mathAttention = config[key::attention] == "math";
    options.fusePointwise = config[key::fusePointwise];
    options.path = config[key::modelPath];
    options.trustedSha256 = config[key::trustedSha256];
    options.loss = config[key::modelLoss];
    options.inputShapes = config[key::inputShapes];
    return options;
}

Result<void> fits(const config::TrainingConfig& config, const data::SampleSpec& spec, std::string_view dataset)
{
    const Workload wanted = workload(config);
    if (std::find(wanted.takes.begin(), wanted.takes.end(), spec.kind) == wanted.takes.end())
        return profiler::fail<"model.dataset",
                              "the model and the dataset do not match: {model} takes {takes}, but {dataset} gives "
                              "{gives}">(Error::Code::Invalid,
                                         "workload=" + config[key::workload] + ", dataset.kind=" + config[key::dataset],
                                         "choose another workload or another dataset.kind",
                                         {{"model", wanted.title},
                                          {"takes", listed(wanted.takes)},
                                          {"dataset", dataset},
                                          {"gives", toText(spec.kind)}});
    return wanted.check ? wanted.check(modelOptions(config, spec)) : Result<void>();
}

std::shared_ptr<Network> makeNetwork(const config::TrainingConfig& config, const data::SampleSpec& spec)
{
    return workload(config).make(modelOptions(config, spec));
}

} // namespace trainer
