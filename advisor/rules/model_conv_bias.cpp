#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>
#include <span>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "model.conv_bias";
// Inputs of aten::conv2d and similar operators: input, weight, bias.
constexpr std::size_t kBiasInput = 2;

struct Convolutions {
    std::int64_t all = 0;        ///< convolutions whose inputs are recorded
    std::int64_t unknown = 0;    ///< convolutions whose inputs are not recorded
    std::int64_t beforeNorm = 0; ///< convolutions with a bias, directly before a batch norm
    std::vector<SliceId> useless;
};

bool isConvolutionOp(std::string_view op)
{
    return op == "aten::conv1d" || op == "aten::conv2d" || op == "aten::conv3d" || op == "aten::convolution" ||
           op == "aten::_convolution";
}

/// Whether the third input has a size, as in "[[32, 3, 8, 8], [64, 3, 7, 7], [64], …]"; no value if the inputs are not
/// recorded.
std::optional<bool> hasBias(const Trace& trace, SliceId op)
{
    const auto inputs = listEntries(trace.string(trace.slice(op).args.shapes));
    if (inputs.size() <= kBiasInput)
        return std::nullopt;
    return inputs[kBiasInput].find_first_of("0123456789") != std::string::npos;
}

bool isNormOp(std::string_view op)
{
    return op == "aten::batch_norm" || op == "aten::native_batch_norm" || op == "aten::cudnn_batch_norm";
}

/// In training, batch norm counts its batches before it normalizes: it adds one to a zero-dimensional tensor.
bool countsBatches(const Trace& trace, const SliceBrief& op)
{
    const std::string_view name = trace.string(op.name);
    if (name != "aten::add_" && name != "aten::add")
        return false;
    const auto inputs = listEntries(trace.string(trace.slice(op.id).args.shapes));
    return !inputs.empty() && inputs.front() == "[]";
}

/// @param behind the operators that follow the convolution
void addConvolution(Convolutions& found, const Trace& trace, const SliceBrief& op, std::span<const SliceBrief> behind)
{
    const std::optional<bool> bias = hasBias(trace, op.id);
    ++(bias ? found.all : found.unknown);
    if (!bias.value_or(false))
        return;
    if (!behind.empty() && countsBatches(trace, behind.front()))
        behind = behind.subspan(1);
    if (behind.empty() || !isNormOp(trace.string(behind.front().name)))
        return;
    ++found.beforeNorm;
    found.useless.push_back(op.id);
}

Convolutions convolutions(const RuleContext& c)
{
    Convolutions found;
    NameAnswers isConvolution(c.trace, isConvolutionOp);
    for (const auto& [track, ops] : c.ops())
        for (std::size_t i = 0; i < ops.size(); ++i)
            if (isConvolution(ops[i].name))
                addConvolution(found, c.trace, ops[i], std::span(ops).subspan(i + 1));
    return found;
}

Advice check(const RuleContext& c)
{
    if (c.config && !(*c.config)[config::key::convBias])
        return silent(message<"model.conv_bias.off", "Convolutions before a norm already have no bias.">());
    const Convolutions found = convolutions(c);
    if (found.all == 0)
        return found.unknown > 0
                   ? cannotTell(
                         message<"model.conv_bias.shapes_not_recorded", "Convolution inputs were not recorded.">(),
                         Need::Shapes)
               : !profiler::analysis::hasKind(c.trace, ActivityKind::CpuOp)
                   ? cannotTell(message<"ops.not_recorded", "Operators were not recorded.">(), Need::Operators)
                   : silent(message<"model.conv_bias.no_convolution", "No convolution ran.">());
    if (found.beforeNorm == 0)
        return silent(message<"model.conv_bias.none",
                              "None of {convolutions} convolutions has a bias directly before a batch norm.">(
            {{"convolutions", found.all, countText(found.all)}}));
    Advice advice =
        fires(message<"model.conv_bias.useless",
                      "{useless} of {convolutions} convolutions add a bias that the following batch norm subtracts.">(
            {{"useless", found.beforeNorm, countText(found.beforeNorm)},
             {"convolutions", found.all, countText(found.all)}}));
    // The time share of the affected convolutions, in proportion to their number.
    advice.timeShare = shareOfTime(c, workShare(c, isConvolution).share) * static_cast<double>(found.beforeNorm) /
                       static_cast<double>(found.all);
    advice.whyNoPrediction = message<"model.conv_bias.cost_unknown",
                                     "The cost of the bias is part of the convolution's time: measure it.">();
    advice.caveats = {
        message<"model.conv_bias.directly_before",
                "This applies only directly before the norm: with an activation in between, the bias matters.">(),
        message<"model.conv_bias.checkpoints",
                "Checkpoints saved with a bias cannot be loaded into layers without one.">()};
    setToggle(advice, c, kKey, "false");
    addEvidence(advice, c.trace, found.useless);
    return advice;
}

} // namespace

Rule model_conv_bias()
{
    return proposing("false",
                     {kKey, "Batch norm cancels the bias of convolutions", check, Needs::Steps, TimePart::Kernels});
}

} // namespace advisor::rules
