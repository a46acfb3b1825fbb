#include "advisor/evidence/program_values.h"

#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/parse_number.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace advisor {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Minimum share of a trace's convolutions with the same batch size: the last batch of an epoch is smaller, and
// validation may use another size.
constexpr double kMost = 0.8;
// Arguments are read from the file one operator at a time, so only this many are read.
constexpr std::size_t kMostArgumentsRead = 64;

/// "torch.optim.SGD" for a class of PyTorch; other names are returned unchanged.
std::string pythonClass(std::string_view name)
{
    constexpr std::array<std::string_view, 15> kOfPyTorch = {"Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW",
                                                             "Adamax",   "ASGD",      "LBFGS",   "Muon", "NAdam",
                                                             "RAdam",    "RMSprop",   "Rprop",   "SGD",  "SparseAdam"};
    const bool known = std::find(kOfPyTorch.begin(), kOfPyTorch.end(), name) != kOfPyTorch.end();
    return known ? "torch.optim." + std::string(name) : std::string(name);
}

/// The value after "name=" in arguments in Python syntax; empty if it is missing.
std::string argument(std::string_view arguments, std::string_view name)
{
    const std::string mark = std::string(name) + "=";
    for (std::size_t at = arguments.find(mark); at != arguments.npos; at = arguments.find(mark, at + 1))
        if (at == 0 || arguments[at - 1] == ' ') {
            const std::string_view value = arguments.substr(at + mark.size());
            return std::string(value.substr(0, value.find(',')));
        }
    return {};
}

/// PyTorch's default weight decay for settings that contain none. Source: the signatures in torch/optim (2.11). No
/// value for classes without this setting and for classes outside PyTorch.
std::optional<double> defaultWeightDecay(std::string_view optimizer)
{
    constexpr std::array<std::string_view, 9> kNone = {"Adadelta", "Adafactor", "Adagrad", "Adam",   "Adamax",
                                                       "ASGD",     "NAdam",     "RAdam",   "RMSprop"};
    constexpr std::string_view kOfPyTorch = "torch.optim.";
    if (!optimizer.starts_with(kOfPyTorch))
        return std::nullopt;
    optimizer.remove_prefix(kOfPyTorch.size());
    if (optimizer == "AdamW")
        return 0.01;
    if (optimizer == "Muon")
        return 0.1;
    if (optimizer == "SGD" || std::find(kNone.begin(), kNone.end(), optimizer) != kNone.end())
        return 0;
    return std::nullopt;
}

void setWeightDecay(ProgramValues& values)
{
    values.weightDecay = parseNumber<double>(argument(values.optimizerSettings, "weight_decay"));
    if (!values.weightDecay && values.hasAllSettings)
        values.weightDecay = defaultWeightDecay(values.optimizer);
}

void takeFacts(const Trace& trace, ProgramValues& values)
{
    values.batchSize = parseNumber<std::int64_t>(metadata(trace, "loader.batch_size"));
    values.workers = parseNumber<std::int64_t>(metadata(trace, "loader.workers"));
    values.prefetchFactor = parseNumber<std::int64_t>(metadata(trace, "loader.prefetch_factor"));
    if (values.prefetchFactor == 0)
        values.prefetchFactor.reset();
    if (metadata(trace, "optimizer.class").empty() || metadata(trace, "optimizer.count") != "1")
        return;
    values.optimizer = metadata(trace, "optimizer.class");
    values.optimizerSettings = metadata(trace, "optimizer.settings");
    values.hasAllSettings = metadata(trace, "optimizer.note").empty();
    values.learningRate = argument(values.optimizerSettings, "lr");
}

/// The batch size that convolutions get. No value if copies of a model on several devices get parts of a batch.
std::optional<std::int64_t> batchOfConvolutions(const Trace& trace)
{
    if (anyName(trace, [](std::string_view name) { return name == "Scatter" || name == "ScatterBackward"; }))
        return std::nullopt;
    std::map<std::int64_t, std::size_t> counts;
    std::size_t all = 0;
    for (const Slice& op :
         ofKindNamed(trace, ActivityKind::CpuOp, [](std::string_view name) { return name == "aten::conv2d"; })) {
        const auto inputs = listEntries(trace.string(op.args.shapes));
        const auto image = inputs.empty() ? inputs : listEntries(inputs.front());
        if (image.size() != 4)
            continue;
        ++all;
        if (const auto samples = parseNumber<std::int64_t>(image.front()))
            ++counts[*samples];
    }
    for (const auto& [samples, count] : counts)
        if (static_cast<double>(count) >= kMost * static_cast<double>(all))
            return samples;
    return std::nullopt;
}

/// Ranges that PyTorch opens around an optimizer step: "Optimizer.step#SGD.step".
struct OptimizerRanges {
    std::set<std::string> classes;
    std::vector<Slice> steps; ///< sorted by start
};

OptimizerRanges optimizerRanges(const Trace& trace)
{
    constexpr std::string_view kBegin = "Optimizer.step#", kEnd = ".step";
    const auto isStep = [&](std::string_view name) { return name.starts_with(kBegin) && name.ends_with(kEnd); };
    OptimizerRanges ranges;
    for (const ActivityKind kind : {ActivityKind::CpuOp, ActivityKind::UserAnnotation})
        for (const Slice& slice : ofKindNamed(trace, kind, isStep)) {
            const std::string_view name = trace.name(slice).substr(kBegin.size());
            ranges.classes.emplace(name.substr(0, name.size() - kEnd.size()));
            ranges.steps.push_back(slice);
        }
    std::sort(ranges.steps.begin(), ranges.steps.end(),
              [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    return ranges;
}

/// Index of each hyperparameter among the inputs of a fused operator. Source: ATen's native_functions.yaml.
struct FusedOperator {
    std::string_view op, optimizer;
    struct Place {
        std::string_view name;
        std::size_t place;
    };
    std::array<Place, 4> places;
};
constexpr std::array<FusedOperator, 3> kFused = {{
    {"aten::_fused_sgd_", "SGD", {{{"lr", 5}, {"momentum", 4}, {"weight_decay", 3}, {"dampening", 6}}}},
    {"aten::_fused_adam_", "Adam", {{{"lr", 6}, {"weight_decay", 9}, {"eps", 10}, {"", 0}}}},
    {"aten::_fused_adamw_", "AdamW", {{{"lr", 6}, {"weight_decay", 9}, {"eps", 10}, {"", 0}}}},
}};

/// Takes the arguments of the first fused operator; lr is unknown if it is a tensor, as a schedule may require.
void takeFusedArguments(const Trace& trace, ProgramValues& values)
{
    for (const FusedOperator& row : kFused) {
        const auto ops = ofKindNamed(trace, ActivityKind::CpuOp, [&](std::string_view name) { return name == row.op; });
        if (ops.empty())
            continue;
        const auto inputs = listEntries(detail(trace, ops.front().id, "Concrete Inputs"));
        std::string settings;
        for (const auto& [name, place] : row.places)
            if (!name.empty() && place < inputs.size() && parseNumber<double>(inputs[place])) {
                settings += fmt::format("{}{}={}", settings.empty() ? "" : ", ", name, inputs[place]);
                if (name == "lr")
                    values.learningRate = inputs[place];
            }
        values.optimizerSettings = settings;
        if (values.optimizer.empty())
            values.optimizer = pythonClass(row.optimizer);
        return;
    }
}

/// The value that an input has in all of these operators; empty if they differ or no value is recorded.
std::string commonInput(const Trace& trace, const std::vector<Slice>& ops, std::size_t place)
{
    std::string common;
    for (const Slice& op : ops) {
        const auto inputs = listEntries(detail(trace, op.id, "Concrete Inputs"));
        if (place >= inputs.size() || !parseNumber<double>(inputs[place]) ||
            (!common.empty() && inputs[place] != common))
            return {};
        common = inputs[place];
    }
    return common;
}

/// SGD without fused operators adds each gradient to its weights, multiplied by the negative learning rate. Source:
/// torch/optim/sgd.py.
void takeSgdArguments(const Trace& trace, const Slice& step, ProgramValues& values)
{
    std::vector<Slice> updates;
    const auto isUpdate = [](std::string_view name) { return name == "aten::add_" || name == "aten::_foreach_add_"; };
    NameAnswers wanted(trace, isUpdate);
    trace.forEach(step.id.track, step.range(), [&](const Slice& op) {
        if (op.kind == ActivityKind::CpuOp && op.begin >= step.begin && op.end() <= step.end() && wanted(op.name)) {
            const auto inputs = listEntries(detail(trace, op.id, "Concrete Inputs"));
            if (inputs.size() > 2 && parseNumber<double>(inputs[2]).value_or(0) < 0)
                updates.push_back(op);
        }
        return updates.size() < kMostArgumentsRead;
    });
    if (const std::string rate = commonInput(trace, updates, 2); !rate.empty()) {
        values.learningRate = rate.substr(1);
        values.optimizerSettings = "lr=" + values.learningRate;
    }
}

void takeOptimizer(const Trace& trace, ProgramValues& values)
{
    const OptimizerRanges ranges = optimizerRanges(trace);
    if (ranges.classes.size() > 1) // with several optimizers, the values of one of them do not describe the program
        return;
    if (!ranges.classes.empty())
        values.optimizer = pythonClass(*ranges.classes.begin());
    takeFusedArguments(trace, values);
    if (values.optimizerSettings.empty() && values.optimizer == "torch.optim.SGD")
        takeSgdArguments(trace, ranges.steps.front(), values);
}

} // namespace

ProgramValues programValues(const config::TrainingConfig& config)
{
    namespace key = config::key;
    ProgramValues values;
    values.batchSize = config[key::batchSize];
    values.workers = config[key::workers];
    values.prefetchFactor = config[key::prefetchFactor];
    values.learningRate = config.text(key::learningRate.name);
    const std::string& kind = config[key::optimizer];
    const std::string decay = config.text(key::weightDecay.name);
    values.weightDecay = config[key::weightDecay];
    const std::string betas = fmt::format("betas=({}, {}), eps={}", config.text(key::beta1.name),
                                          config.text(key::beta2.name), config.text(key::epsilon.name));
    values.hasAllSettings = true;
    if (kind == "sgd") {
        values.optimizer = "torch.optim.SGD";
        values.optimizerSettings =
            fmt::format("lr={}, momentum={}, weight_decay={}{}", values.learningRate, config.text(key::momentum.name),
                        decay, config[key::nesterov] ? ", nesterov=True" : "");
    } else if (kind == "adam" || kind == "adamw") {
        values.optimizer = kind == "adam" ? "torch.optim.Adam" : "torch.optim.AdamW";
        values.optimizerSettings = fmt::format("lr={}, {}, weight_decay={}", values.learningRate, betas, decay);
    } else {
        values.hasAllSettings = false; // PyTorch does not have this class
    }
    return values;
}

ProgramValues programValues(const Trace& trace, const config::TrainingConfig* config)
{
    if (config)
        return programValues(*config);
    ProgramValues values;
    takeFacts(trace, values);
    if (!values.batchSize)
        values.batchSize = batchOfConvolutions(trace);
    if (values.optimizer.empty() && metadata(trace, "optimizer.count").empty())
        takeOptimizer(trace, values);
    setWeightDecay(values);
    return values;
}

OptimizerForms optimizerForms(std::string_view className)
{
    constexpr std::array<std::string_view, 3> kPlain = {"LBFGS", "Muon", "SparseAdam"};
    constexpr std::array<std::string_view, 8> kForeach = {"ASGD",  "Adadelta", "Adafactor", "Adamax",
                                                          "NAdam", "RAdam",    "RMSprop",   "Rprop"};
    if (std::ranges::find(kPlain, className) != kPlain.end())
        return {.foreach = false, .fused = false};
    return {.foreach = true, .fused = std::ranges::find(kForeach, className) == kForeach.end()};
}

} // namespace advisor
