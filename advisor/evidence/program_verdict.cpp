#include "advisor/evidence/program_verdict.h"

#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/program_values.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace advisor {

using namespace profiler;

namespace {

using Json = nlohmann::json;
using Answer = std::optional<Advice> (*)(const RuleContext&, const ProgramFacts&);

// The same limits as in the rules about these subjects (memory_use.cpp, memory_format.cpp, precision_amp.cpp,
// model_norm.cpp).
constexpr double kFullMemory = 0.9;
constexpr double kMinimumLayoutShare = 0.05;
constexpr double kMinimumPrecisionShare = 0.05;
constexpr double kPaysOnCpu = 0.5;
constexpr double kSmallBatch = 8;
// Minimum share of the time spent writing files: below it, they delay nothing. Chosen, as in rules/host_async_work.cpp.
constexpr double kMinimumShare = 0.01;
// Minimum share of the optimizer in the step. Chosen: 5 %; unlike with recorded operators (optimizer_fused.cpp), it is
// unknown how many operators it runs.
constexpr double kMinimumOptimizerShare = 0.05;
// Inputs whose mean is more than one standard deviation from zero were not normalized: raw images have a mean of 1.2 to
// 2 standard deviations, normalized ones less than 0.3 (torchvision's published statistics of ImageNet).
constexpr double kFarFromZero = 1;

std::string name(const ProgramObject& object)
{
    return std::string(object.shortName());
}

double numberOr(const Json& json, const char* key, double fallback)
{
    const auto entry = json.find(key);
    return entry != json.end() && entry->is_number() ? entry->get<double>() : fallback;
}

std::optional<Advice> onMemory(const RuleContext& c, const ProgramFacts& facts)
{
    const double total = numberOr(facts.memory, "host_total", 0), peak = numberOr(facts.memory, "host_peak", 0);
    if (!ranOnCpu(c) || total <= 0 || peak <= 0 || peak / total > kFullMemory)
        return std::nullopt;
    return silent(message<"program.memory.room", "The process used at most {peak} of the machine's {total}.">(
        {{"peak", peak, bytesText(peak)}, {"total", total, bytesText(total)}}));
}

std::optional<Advice> onInputs(const RuleContext&, const ProgramFacts& facts)
{
    const Json type = facts.precisionOf("input_dtype");
    if (type.is_string() && type.get_ref<const std::string&>().find("int") != std::string::npos)
        return silent(
            message<"program.inputs.tokens", "The model's inputs are integers: there is nothing to normalize.">());
    const double deviation = numberOr(facts.precision, "input_std", 0);
    const double mean = numberOr(facts.precision, "input_mean", std::nan(""));
    if (!(deviation > 0) || !std::isfinite(mean))
        return std::nullopt;
    const MessageParameter shownMean("mean", mean, fmt::format("{:.3g}", mean));
    const MessageParameter shownDeviation("deviation", deviation, fmt::format("{:.3g}", deviation));
    if (std::abs(mean) <= kFarFromZero * deviation)
        return silent(
            message<"program.inputs.normalized", "The first batch has a mean of {mean} and a standard deviation of "
                                                 "{deviation}: inputs are already close to zero.">(
                {shownMean, shownDeviation}));
    Advice advice =
        firesOnLearning(message<"program.inputs.not_normalized",
                                "The first batch has a mean of {mean} and a standard deviation of {deviation}: "
                                "inputs are not normalized.">({shownMean, shownDeviation}));
    return advice;
}

/// Share of the forward and backward passes in a step, in which the debug tools act; 0: unknown.
double shareOfPasses(const RuleContext& c)
{
    const analysis::StepStatistics& steps = c.facts.statistics;
    return steps.steadyCount == 0
               ? 0
               : analysis::toUs(steps.steadyMeanParts.forward + steps.steadyMeanParts.backward) / steps.steadyMeanUs;
}

std::optional<Advice> onTool(const RuleContext& c, const ProgramFacts& facts, std::string_view kind,
                             std::string_view flag)
{
    for (const ProgramObject& object : facts.objects) {
        const bool found = kind == "flag" ? object.className == flag : object.kind == kind;
        if (!found || object.count == 0 || object.flag("mode") == false || object.flag("enabled") == false)
            continue;
        Advice advice = fires(message<"program.tool.used", "The program uses {tool}, which slows down its steps.">(
            {{"tool", object.className}}));
        advice.timeShare = kind == "flag" ? 0 : shareOfPasses(c);
        advice.whyNoPrediction = message<"program.tool.cost", "Its cost is spread over all operators: measure it.">();
        return advice;
    }
    return silent(message<"program.tool.unused", "The program does not use it.">());
}

std::optional<Advice> onValidation(const RuleContext& c, const ProgramFacts& facts)
{
    const auto validations = facts.ofKind("validation");
    if (validations.empty())
        return silent(message<"program.validation.none", "The program did not validate while it was recorded.">());
    for (const ProgramObject* validation : validations) {
        if (!validation->flag("grad").value_or(false))
            continue;
        const double us = validation->number("time_us").value_or(0);
        Advice advice = fires(message<"program.validation.grad",
                                      "Validation records gradients that nothing uses: {passes}, {time} in total.">(
            {{"passes", validation->count,
              validation->count == 1 ? "1 pass" : fmt::format("{} passes", validation->count)},
             {"time", us, timeText(us)}}));
        advice.whyNoPrediction = message<"program.validation.cost",
                                         "The trace does not show the cost of recording gradients: measure it.">();
        advice.measure = "validation";
        const double recordedUs = analysis::toUs(c.trace.range().duration());
        advice.timeShare = recordedUs > 0 ? std::clamp(us / recordedUs, 0.0, 1.0) : 0;
        return advice;
    }
    return silent(message<"program.validation.no_grad", "Validation runs without gradients.">());
}

std::optional<Advice> onClipping(const ProgramFacts& facts, std::string_view function)
{
    for (const ProgramObject* clip : facts.ofKind("clip"))
        if (clip->shortName() == function)
            return silent(message<"program.clip.on", "The program already clips its gradients ({calls} calls).">(
                {{"calls", clip->count}}));
    const double losses = numberOr(facts.loss, "count", 0);
    const double broken = numberOr(facts.loss, "nan", 0) + numberOr(facts.loss, "inf", 0);
    if (losses < 1)
        return std::nullopt;
    if (broken == 0)
        return silent(message<"program.clip.finite", "The loss stayed finite in {losses} backward passes.">(
            {{"losses", losses, countText(losses)}}));
    return firesOnLearning(message<"program.clip.broken", "{broken} of {losses} losses are NaN or infinite, and "
                                                          "gradients are not clipped.">(
        {{"broken", broken, countText(broken)}, {"losses", losses, countText(losses)}}));
}

std::optional<Advice> onFiles(const RuleContext& c, const ProgramFacts& facts)
{
    double us = 0;
    for (const ProgramObject& object : facts.objects)
        if (object.kind == "save" || object.kind == "log")
            us += object.number("time_us").value_or(0);
    const double steps = static_cast<double>(c.facts.statistics.count) * c.facts.statistics.meanUs;
    if (steps <= 0)
        return std::nullopt;
    const MessageParameter time("time", us, timeText(us)), share("share", us / steps, shareText(us / steps));
    if (us / steps < kMinimumShare)
        return silent(message<"program.files.little", "Checkpoints and logs take {time}, {share} of the steps' time.">(
            {time, share}));
    Advice advice = fires(
        message<"program.files.much", "Checkpoints and logs delay training by {time}, {share} of the steps' time.">(
            {time, share}));
    advice.timeShare = std::min(1.0, us / steps);
    advice.whyNoPrediction =
        message<"program.files.where", "They are written between steps, so step times do not include them.">();
    return advice;
}

std::optional<Advice> onLayout(const RuleContext& c, const ProgramFacts& facts)
{
    std::int64_t convolutions = 0, contiguous = 0;
    for (const ProgramModule& module : facts.modules) {
        if (module.memoryFormat.empty())
            continue;
        ++convolutions;
        contiguous += module.memoryFormat == "contiguous" ? 1 : 0;
    }
    const WorkShare work = workShare(c, isConvolution);
    if (convolutions == 0 || !work.recorded)
        return convolutions == 0 && !facts.modules.empty()
                   ? std::optional(silent(message<"program.layout.none", "The model has no convolutions.">()))
                   : std::nullopt;
    if (contiguous == 0 && facts.precisionOf("input_memory_format") == "channels_last")
        return silent(message<"program.layout.on", "The model and its inputs are already channels-last.">());
    if (work.share < kMinimumLayoutShare)
        return silent(message<"program.layout.little", "Convolutions take only {share} of the work.">(
            {{"share", work.share, shareText(work.share)}}));
    Advice advice =
        fires(message<
              "program.layout.contiguous",
              "Convolutions take {share} of the work, and {contiguous} of {convolutions} have channels-first weights.">(
            {{"share", work.share, shareText(work.share)},
             {"contiguous", contiguous},
             {"convolutions", convolutions}}));
    advice.timeShare = shareOfTime(c, work.share);
    advice.whyNoPrediction =
        message<"program.layout.other_kernels",
                "Another layout runs other kernels, whose times are not in this trace: measure it.">();
    return advice;
}

std::optional<Advice> onConvolutionBias(const RuleContext& c, const ProgramFacts& facts)
{
    if (!facts.followedForward)
        return std::nullopt;
    const auto all = static_cast<std::int64_t>(facts.convolutionsBeforeNorm.size());
    const auto biased = static_cast<std::int64_t>(
        std::ranges::count_if(facts.convolutionsBeforeNorm, [](const auto& found) { return found.bias; }));
    if (biased == 0)
        return silent(message<"program.conv_bias.none",
                              "None of the {convolutions} convolutions directly before a batch norm has a bias.">(
            {{"convolutions", all}}));
    Advice advice =
        fires(message<"program.conv_bias.useless",
                      "{biased} of {convolutions} convolutions directly before a batch norm add a bias that it "
                      "subtracts.">({{"biased", biased}, {"convolutions", all}}));
    advice.timeShare = shareOfTime(c, workShare(c, isConvolution).share) * static_cast<double>(biased) /
                       static_cast<double>(std::max<std::int64_t>(all, 1));
    advice.whyNoPrediction =
        message<"program.conv_bias.cost", "The cost of the bias is part of the convolution's time: "
                                          "measure it.">();
    advice.caveats = {message<"program.conv_bias.checkpoints",
                              "Checkpoints saved with a bias cannot be loaded into layers without one.">()};
    return advice;
}

std::optional<Advice> onNorm(const RuleContext&, const ProgramFacts& facts)
{
    std::int64_t norms = 0, batchNorms = 0, weighted = 0;
    for (const ProgramModule& module : facts.modules) {
        const bool norm = module.className.find("Norm") != std::string::npos;
        norms += norm ? 1 : 0;
        batchNorms += module.className.find("BatchNorm") != std::string::npos ? 1 : 0;
        weighted += !norm && module.parameters > 0 ? 1 : 0;
    }
    if (facts.modules.empty())
        return std::nullopt;
    const ProgramObject* loader = facts.trainingLoader();
    const double batch = loader ? loader->number("batch_size").value_or(kSmallBatch) : kSmallBatch;
    if (batchNorms > 0 && batch < kSmallBatch)
        return firesOnLearning(
            message<"program.norm.small_batch", "{norms} batch norms compute their statistics from {batch} samples.">(
                {{"norms", batchNorms}, {"batch", batch, countText(batch)}}));
    return silent(message<"program.norm.suits",
                          "The model has {norms} normalization layers and {layers} other layers with parameters.">(
        {{"norms", norms}, {"layers", weighted}}));
}

bool hasTrained(const ProgramFacts& facts)
{
    return numberOr(facts.loss, "count", 0) >= 1;
}

/// The answer for a program that updates its weights without torch.optim, as the word language model of
/// pytorch/examples does.
std::optional<Advice> withoutOptimizer(const ProgramFacts& facts)
{
    if (!hasTrained(facts) || !facts.ofKind("optimizer").empty())
        return std::nullopt;
    return silent(message<"program.optimizer.none",
                          "The program uses no optimizer of torch.optim: it updates its weights itself.">());
}

/// Without recorded operators, the settings and the device decide: on a CPU, PyTorch's default is the loop over
/// tensors.
std::optional<Advice> onFused(const RuleContext& c, const ProgramFacts& facts)
{
    const ProgramObject* optimizer = facts.mainOptimizer();
    if (!optimizer)
        return withoutOptimizer(facts);
    if (!ranOnCpu(c) || c.facts.statistics.steadyCount == 0 || !optimizerForms(optimizer->shortName()).fused)
        return std::nullopt;
    if (optimizer->flag("fused").value_or(false) || optimizer->flag("foreach").value_or(false))
        return silent(message<"program.optimizer.fused_on", "The program asks for a foreach or fused optimizer.">());
    const double share = analysis::toUs(c.facts.statistics.steadyMeanParts.optimizer) / c.facts.statistics.steadyMeanUs;
    const MessageParameter shown("share", share, shareText(share));
    if (share < kMinimumOptimizerShare)
        return silent(message<"program.optimizer.short", "The optimizer takes only {share} of the step.">({shown}));
    Advice advice = fires(message<"program.optimizer.loops",
                                  "The optimizer loops over tensors (not foreach or fused) and takes {share} of the "
                                  "step.">({shown}));
    advice.timeShare = std::min(1.0, share);
    advice.whyNoPrediction = message<"program.optimizer.kernels", "The fused optimizer runs other kernels, whose times "
                                                                  "are not in this trace: measure it.">();
    setToggle(advice, c, "optimizer.implementation", "fused");
    return advice;
}

/// The answer for a program that trains without a DataLoader.
std::optional<Advice> onLoader(const RuleContext&, const ProgramFacts& facts)
{
    if (!hasTrained(facts) || !facts.ofKind("loader").empty())
        return std::nullopt;
    return silent(message<"program.loader.none", "The program trains without a DataLoader.">());
}

std::optional<Advice> onOptimizer(const RuleContext&, const ProgramFacts& facts)
{
    const ProgramObject* optimizer = facts.mainOptimizer();
    if (!optimizer)
        return withoutOptimizer(facts);
    const double decay = optimizer->number("weight_decay").value_or(0);
    const bool decoupled = optimizer->flag("decoupled_weight_decay").value_or(false);
    if (optimizer->shortName() == "Adam" && decay > 0 && !decoupled)
        return firesOnLearning(
            message<"program.optimizer.adam_decay",
                    "Adam scales its weight decay of {decay} by the gradient magnitude; AdamW decouples the two.">(
                {{"decay", decay, fmt::format("{:.3g}", decay)}}));
    return silent(message<"program.optimizer.suits",
                          "The program trains with {optimizer}; none of its settings argues for another optimizer.">(
        {{"optimizer", name(*optimizer)}}));
}

std::optional<Advice> onScaling(const RuleContext&, const ProgramFacts& facts)
{
    const ProgramObject* optimizer = facts.mainOptimizer();
    const ProgramObject* loader = facts.trainingLoader();
    if (!optimizer)
        return withoutOptimizer(facts);
    const double rate = optimizer->number("lr").value_or(0);
    const double batch = loader ? loader->number("batch_size").value_or(0) : 0;
    return silent(message<"program.scaling.as_written",
                          "The program trains with a learning rate of {rate} and {batch} samples per batch, the values "
                          "in its code; scale the learning rate if you change the batch size.">(
        {{"rate", rate, fmt::format("{:.3g}", rate)},
         {"batch", batch, batch > 0 ? countText(batch) : "an unknown number of"}}));
}

std::optional<Advice> onDecay(const RuleContext&, const ProgramFacts& facts)
{
    const ProgramObject* optimizer = facts.mainOptimizer();
    if (!optimizer)
        return withoutOptimizer(facts);
    if (!optimizer->number("weight_decay"))
        return std::nullopt;
    double decay = 0;
    if (const auto groups = optimizer->fields.find("groups"); groups != optimizer->fields.end() && groups->is_array())
        for (const Json& group : *groups)
            decay = std::max(decay, group.is_object() ? numberOr(group, "weight_decay", 0) : 0);
    if (decay > 0)
        return silent(message<"program.decay.on", "The weight decay is {decay}.">(
            {{"decay", decay, fmt::format("{:.3g}", decay)}}));
    return cannotTell(
        message<"program.decay.none", "The weight decay is 0: the optimizer does not regularize the weights.">(),
        Need::Measurement);
}

/// Without operators, the phase shows what the fills cost, but not what the additions in the backward pass cost.
std::optional<Advice> onZeroGrad(const RuleContext& c, const ProgramFacts& facts)
{
    const analysis::StepStatistics& steps = c.facts.statistics;
    std::int64_t calls = 0, fills = 0;
    for (const ProgramObject* call : facts.ofKind("zero_grad")) {
        calls += call->count;
        fills += call->flag("set_to_none") == false ? call->count : 0;
    }
    if (calls == 0 || steps.steadyCount == 0)
        return std::nullopt;
    if (fills == 0)
        return silent(message<"program.zero_grad.none", "zero_grad sets gradients to None.">());
    const double us = analysis::toUs(steps.steadyMeanParts.zeroGrad), share = us / steps.steadyMeanUs;
    const MessageParameter time("time", us, timeText(us)), shown("share", share, shareText(share));
    if (share < kMinimumShare)
        return silent(
            message<"program.zero_grad.short", "Filling gradients with zeros takes only {time} ({share}) of a "
                                               "step.">({time, shown}));
    Advice advice = fires(message<"program.zero_grad.fills",
                                  "zero_grad(set_to_none=False) fills gradients with zeros: it takes {time} ({share}) "
                                  "of each step.">({time, shown}));
    advice.timeShare = std::min(1.0, share);
    advice.whyNoPrediction =
        message<"program.zero_grad.additions", "The trace does not show the cost of adding to these gradients in the "
                                               "backward pass, nor of allocating new ones: measure it.">();
    advice.caveats = {
        message<"program.zero_grad.skipped",
                "Optimizers skip parameters without a gradient: weight decay and momentum do not change them.">()};
    return advice;
}

std::optional<Advice> onSchedule(const RuleContext&, const ProgramFacts& facts)
{
    const auto schedulers = facts.ofKind("scheduler");
    if (!schedulers.empty())
        return silent(message<"program.schedule.on", "The learning rate follows a schedule ({schedule}).">(
            {{"schedule", name(*schedulers.front())}}));
    const ProgramObject* optimizer = facts.mainOptimizer();
    if (!optimizer)
        return withoutOptimizer(facts);
    if (optimizer->flag("lr_changed").value_or(false))
        return silent(message<"program.schedule.by_hand", "The program changes the learning rate itself.">());
    const double losses = numberOr(facts.loss, "count", 0);
    return silent(message<"program.schedule.constant",
                          "The learning rate was constant for {steps} backward passes: too few to show that a schedule "
                          "would help.">({{"steps", losses, countText(losses)}}));
}

std::optional<Advice> onPrecision(const RuleContext& c, const ProgramFacts& facts)
{
    const Json autocast = facts.precisionOf("autocast");
    if (autocast.is_object())
        return silent(message<"program.precision.autocast", "The forward pass runs under autocast ({type}).">(
            {{"type", autocast.value("dtype", Json()).is_string() ? autocast["dtype"].get<std::string>() : "on"}}));
    std::int64_t full = 0;
    for (const ProgramModule& module : facts.modules)
        full += module.dtype == "float32" || module.dtype == "float64" ? 1 : 0;
    if (facts.modules.empty())
        return std::nullopt;
    if (full == 0)
        return silent(message<"program.precision.half", "The model's weights already have reduced precision.">());
    const WorkShare products = workShare(c, isMatrixProduct);
    if (!products.recorded || !ranOnCpu(c))
        return std::nullopt;
    const MessageParameter share("share", products.share, shareText(products.share));
    if (products.share < kMinimumPrecisionShare)
        return silent(
            message<"program.precision.little", "Matmuls and convolutions in FP32 take only {share} of the work.">(
                {share}));
    const std::string_view flags = metadata(c.trace, "host.cpu_flags");
    if (flags.empty())
        return std::nullopt;
    constexpr std::array<std::string_view, 4> kFlags = {"avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16"};
    if (std::ranges::none_of(kFlags, [&](std::string_view flag) { return flags.find(flag) != flags.npos; }))
        return silent(message<"program.precision.no_bf16",
                              "The CPU has no BF16 instructions: it would emulate them, which is slower.">());
    if (products.share < kPaysOnCpu)
        return silent(message<"program.precision.may_lose",
                              "Matmuls and convolutions in FP32 take {share} of the work: on a CPU, the casts and the "
                              "slowdown of other operators cost about as much as this gains.">({share}));
    Advice advice =
        fires(message<"program.precision.fp32",
                      "Matmuls and convolutions in FP32 take {share} of the work, and the CPU has BF16 instructions.">(
            {share}));
    advice.timeShare = shareOfTime(c, products.share);
    advice.whyNoPrediction = message<"program.precision.other_kernels",
                                     "BF16 runs other kernels, whose times are not in this trace: measure it.">();
    return advice;
}

/// Time per step of an operator in data preparation: on the training thread, outside of training itself.
double usWhileLoading(const RuleContext& c, std::string_view op)
{
    double us = 0;
    for (const std::string_view phase : {std::string_view(phase::kDataWait), std::string_view(phase::kCopy)})
        if (const analysis::OpCost* cost = c.facts.ops.find(op, phase))
            us += cost->totalUsPerStep;
    return us;
}

/// Copies in loader workers do not delay a step, and the batches that workers deliver are in shared memory.
std::optional<Advice> onSharing(const RuleContext& c, const ProgramFacts&)
{
    if (c.facts.ops.stepsWithOps == 0 || !(c.facts.statistics.steadyMeanUs > 0))
        return std::nullopt;
    // Every copy on the host ends in copy_; contiguous() copies to change the layout, and no other operator does.
    const double copiesUs = usWhileLoading(c, "aten::copy_");
    const double clonesUs = usWhileLoading(c, "aten::clone") - usWhileLoading(c, "aten::contiguous");
    const auto share = [&](double us) { return us / c.facts.statistics.steadyMeanUs; };
    if (share(copiesUs) < kMinimumShare)
        return silent(
            message<"program.sharing.short", "Copying tensors during data preparation takes only {share} of a step.">(
                {{"share", share(copiesUs), shareText(share(copiesUs))}}));
    if (share(clonesUs) < kMinimumShare)
        return cannotTell(
            message<"program.sharing.other_copies", "Copies during data preparation take {share} of a step, but the "
                                                    "trace does not record whether they change the data type.">(
                {{"share", share(copiesUs), shareText(share(copiesUs))}}),
            Need::Measurement);
    Advice advice = fires(
        message<"program.sharing.cloned", "Tensors are cloned during data preparation: {time}, {share} of the step.">(
            {{"time", clonesUs, timeText(clonesUs)}, {"share", share(clonesUs), shareText(share(clonesUs))}}));
    advice.timeShare = share(clonesUs);
    advice.saving = upperBound(SavingUnit::UsPerStep, clonesUs);
    advice.caveats = {message<"program.sharing.written", "A tensor that is modified later needs its own copy.">()};
    return advice;
}

std::optional<Advice> onUnused(const RuleContext& c, const ProgramFacts& facts)
{
    double all = 0, unused = 0;
    std::string modules;
    bool known = false;
    for (const ProgramObject* model : facts.ofKind("model")) {
        const auto found = model->number("unused_gradients");
        known = known || found;
        all += model->number("trainable").value_or(0);
        unused += found.value_or(0);
        const auto names = model->fields.find("unused_gradients_in");
        if (modules.empty() && names != model->fields.end() && names->is_array() && !names->empty())
            modules = names->front().is_string() ? names->front().get<std::string>() : std::string();
    }
    if (!known)
        return std::nullopt;
    const bool ofInput = facts.precisionOf("input_requires_grad") == true;
    if (unused == 0 && !ofInput)
        return silent(
            message<"program.gradients.used",
                    "An optimizer trains every parameter that gets a gradient, and the inputs need no gradients.">());
    Advice advice =
        unused == 0
            ? fires(message<"program.gradients.of_inputs", "Every backward pass computes gradients of the inputs.">())
            : fires(
                  message<"program.gradients.unused",
                          "{unused} of {all} parameters get gradients that no optimizer uses, the first in {module}.">(
                      {{"unused", unused, countText(unused)},
                       {"all", all, countText(all)},
                       {"module", modules.empty() ? "the model itself" : modules}}));
    if (c.facts.statistics.steadyCount > 0)
        advice.timeShare = analysis::toUs(c.facts.statistics.steadyMeanParts.backward) /
                           c.facts.statistics.steadyMeanUs * (all > 0 && unused > 0 ? std::min(1.0, unused / all) : 1);
    advice.whyNoPrediction =
        message<"program.gradients.cost", "The trace does not show the cost of these gradients: freeze the parameters "
                                          "with requires_grad_(False) and measure it.">();
    advice.caveats = {
        message<"program.gradients.read", "The results stay the same only if nothing else reads these gradients.">()};
    return advice;
}

struct AnswerRow {
    std::string_view key;
    Answer answer;
    bool always = false; ///< also if the rule itself has an answer
};

constexpr std::array<AnswerRow, 28> kAnswers = {{
    {"batch.find_max", onMemory},
    {"checkpointing", onMemory},
    {"gradient.accumulation", onMemory},
    {"memory.pressure", onMemory},
    {"data.normalize", onInputs},
    {"debug.anomaly", [](const RuleContext& c, const ProgramFacts& f) { return onTool(c, f, "anomaly", {}); }, true},
    {"debug.autograd_profiler",
     [](const RuleContext& c, const ProgramFacts& f) { return onTool(c, f, "profiler", {}); }},
    {"debug.emit_nvtx", [](const RuleContext& c, const ProgramFacts& f) { return onTool(c, f, "emit_nvtx", {}); }},
    {"debug.gradcheck",
     [](const RuleContext& c, const ProgramFacts& f) { return onTool(c, f, "flag", "torch.autograd.gradcheck"); }},
    {"debug.gradgradcheck",
     [](const RuleContext& c, const ProgramFacts& f) { return onTool(c, f, "flag", "torch.autograd.gradgradcheck"); }},
    {"eval.no_grad", onValidation},
    {"gradient.clip_norm", [](const RuleContext&, const ProgramFacts& f) { return onClipping(f, "clip_grad_norm_"); }},
    {"gradient.clip_value",
     [](const RuleContext&, const ProgramFacts& f) { return onClipping(f, "clip_grad_value_"); }},
    {"host.async_work", onFiles},
    {"loader.persistent_workers", onLoader},
    {"loader.prefetch_factor", onLoader},
    {"memory_format", onLayout},
    {"model.conv_bias", onConvolutionBias},
    {"model.norm", onNorm},
    {"optimizer.fused", onFused},
    {"optimizer.kind", onOptimizer},
    {"optimizer.lr_scaling", onScaling},
    {"optimizer.weight_decay", onDecay},
    {"precision.amp", onPrecision},
    {"schedule.kind", onSchedule},
    {"tensors.share_memory", onSharing},
    {"work.unused", onUnused},
    {"zero_grad.set_to_none", onZeroGrad},
}};

// A card shows a few lines; more lines add no information.
constexpr std::size_t kMostPlaces = 8;

/// The objects of a program that the rules are about.
struct Subject {
    std::string_view kind;
    std::string_view role = {};      ///< for loaders
    std::string_view className = {}; ///< end of the class name; empty: any
};

struct SubjectRow {
    std::string_view key; ///< of the rule
    std::array<Subject, 3> subjects;
};

constexpr std::array kSubjects = {
    SubjectRow{"attention", {{{"attention"}}}},
    SubjectRow{"batch.find_max", {{{"loader", "training"}}}},
    SubjectRow{"batch.size", {{{"loader", "training"}}}},
    SubjectRow{"checkpointing", {{{"model"}}}},
    SubjectRow{"comm.buckets", {{{"data_parallel"}, {"model"}}}},
    SubjectRow{"comm.exposed", {{{"data_parallel"}, {"model"}}}},
    SubjectRow{"compile", {{{"compile"}, {"model"}}}},
    SubjectRow{"cudnn.benchmark", {{{"flag", {}, "cudnn.benchmark"}, {"model"}}}},
    SubjectRow{"data.normalize", {{{"loader", "training"}}}},
    SubjectRow{"debug.anomaly", {{{"anomaly"}}}},
    SubjectRow{"debug.autograd_profiler", {{{"profiler"}}}},
    SubjectRow{"debug.emit_nvtx", {{{"emit_nvtx"}}}},
    SubjectRow{"debug.gradcheck", {{{"flag", {}, "autograd.gradcheck"}}}},
    SubjectRow{"debug.gradgradcheck", {{{"flag", {}, "autograd.gradgradcheck"}}}},
    SubjectRow{"eval.no_grad", {{{"validation"}}}},
    SubjectRow{"fuse.pointwise", {{{"model"}}}},
    SubjectRow{"gradient.accumulation", {{{"optimizer_step"}, {"backward"}}}},
    SubjectRow{"gradient.clip_norm", {{{"clip", {}, "clip_grad_norm_"}, {"optimizer_step"}}}},
    SubjectRow{"gradient.clip_value", {{{"clip", {}, "clip_grad_value_"}, {"optimizer_step"}}}},
    SubjectRow{"host.async_work", {{{"save"}, {"log"}}}},
    SubjectRow{"host.bound", {{{"forward"}}}},
    SubjectRow{"loader.balance", {{{"loader", "training"}}}},
    SubjectRow{"loader.persistent_workers", {{{"loader", "training"}}}},
    SubjectRow{"loader.pin_memory", {{{"loader", "training"}}}},
    SubjectRow{"loader.prefetch_factor", {{{"loader", "training"}}}},
    SubjectRow{"loader.workers", {{{"loader", "training"}}}},
    SubjectRow{"memory_format", {{{"model"}}}},
    SubjectRow{"model.conv_bias", {{{"conv_bn"}}}},
    SubjectRow{"model.norm", {{{"model"}}}},
    SubjectRow{"optimizer.fused", {{{"optimizer"}}}},
    SubjectRow{"optimizer.kind", {{{"optimizer"}}}},
    SubjectRow{"optimizer.lr_scaling", {{{"optimizer"}, {"loader", "training"}}}},
    SubjectRow{"optimizer.weight_decay", {{{"optimizer"}}}},
    SubjectRow{"parallel.kind", {{{"data_parallel"}, {"model"}}}},
    SubjectRow{"precision.amp", {{{"autocast"}, {"forward"}}}},
    SubjectRow{"precision.tf32",
               {{{"flag", {}, "allow_tf32"}, {"flag", {}, "set_float32_matmul_precision"}, {"forward"}}}},
    SubjectRow{"schedule.kind", {{{"scheduler"}, {"optimizer"}}}},
    SubjectRow{"sync.every_n_steps", {{{"sync"}}}},
    SubjectRow{"tensors.share_memory", {{{"loader", "training"}}}},
    SubjectRow{"transfer.non_blocking", {{{"to"}}}},
    SubjectRow{"work.unused", {{{"model"}}}},
    SubjectRow{"zero_grad.set_to_none", {{{"zero_grad"}}}},
};

void add(std::vector<SourcePlace>& places, const std::optional<SourcePlace>& place, std::string_view what = {})
{
    if (!place || places.size() >= kMostPlaces)
        return;
    SourcePlace found = *place;
    if (!what.empty())
        found.what = what;
    const auto same = [&](const SourcePlace& other) { return other.file == found.file && other.line == found.line; };
    if (std::ranges::none_of(places, same))
        places.push_back(std::move(found));
}

bool fits(const ProgramObject& object, const Subject& subject)
{
    return object.kind == subject.kind && (subject.role.empty() || object.role == subject.role) &&
           object.className.ends_with(subject.className);
}

/// The place where the user sets the object's value: its own place, or that of the framework's trainer that created it
/// from its arguments.
std::optional<SourcePlace> placeOf(const ProgramObject& object, const ProgramFacts& facts)
{
    const auto arguments = object.fields.find("framework_arguments");
    if (object.framework.empty() || arguments == object.fields.end() || !arguments->is_object())
        return object.site;
    for (const auto& [name, entry] : arguments->items()) {
        const auto id = entry.is_object() ? entry.find("object") : entry.end();
        if (!entry.is_object() || id == entry.end() || !id->is_string())
            continue;
        const auto trainer = std::ranges::find(facts.objects, id->get_ref<const std::string&>(), &ProgramObject::id);
        if (trainer != facts.objects.end() && trainer->site)
            return trainer->site;
    }
    return object.site;
}

/// The objects of a subject, most used first.
void addObjects(std::vector<SourcePlace>& places, const ProgramFacts& facts, const Subject& subject)
{
    std::vector<const ProgramObject*> found;
    for (const ProgramObject& object : facts.objects)
        // A model is moved to the device once: copies in each step are those of tensors.
        if (fits(object, subject) && !(object.kind == "to" && object.className.find("Module") != std::string::npos))
            found.push_back(&object);
    std::ranges::stable_sort(found, std::ranges::greater(), &ProgramObject::count);
    for (const ProgramObject* object : found)
        add(places, placeOf(*object, facts));
}

} // namespace

void suitOptimizer(Advice& verdict, const RuleContext& c, const ProgramFacts& facts)
{
    const ProgramObject* optimizer = facts.mainOptimizer();
    if (!optimizer || verdict.state != State::Fires)
        return;
    const OptimizerForms forms = optimizerForms(optimizer->shortName());
    if (!optimizer->className.starts_with("torch.") && !optimizer->setting("foreach") && !optimizer->setting("fused")) {
        verdict.toggle.reset();
        verdict.proposed.reset();
        verdict.whyNoToggle =
            message<"program.optimizer.own_class", "{optimizer} is a class of its own without these settings: use "
                                                   "torch._foreach_ functions in its step, or an optimizer of "
                                                   "torch.optim with the same update.">(
                {{"optimizer", name(*optimizer)}});
    } else if (!forms.foreach) {
        verdict = silent(message<"program.optimizer.plain_only", "PyTorch has no foreach or fused implementation of "
                                                                 "{optimizer}.">({{"optimizer", name(*optimizer)}}));
    } else if (!forms.fused) {
        verdict.caveats.clear(); // of both implementations
        verdict.caveats.push_back(
            message<"program.optimizer.foreach_only", "{optimizer} has no fused implementation. The foreach one needs "
                                                      "temporary memory as large as the weights.">(
                {{"optimizer", name(*optimizer)}}));
        setToggle(verdict, c, "optimizer.implementation", "foreach");
    }
}

void suitLoader(Advice& verdict, const ProgramFacts& facts)
{
    const ProgramObject* loader = facts.trainingLoader();
    if (verdict.state != State::Fires || !loader || !loader->site)
        return;
    const auto loaders = std::ranges::count_if(facts.objects, [&](const ProgramObject& object) {
        return object.kind == "loader" && object.role == loader->role && object.site && *object.site == *loader->site;
    });
    if (loaders < 2)
        return;
    verdict.toggle.reset();
    verdict.proposed.reset();
    verdict.whyNoToggle = message<"program.loader.again",
                                  "persistent_workers alone changes nothing, because the program constructs this "
                                  "DataLoader {loaders} times: construct it once, before the loop over the epochs.">(
        {{"loaders", loaders, countText(static_cast<double>(loaders))}});
}

std::optional<Advice> verdictOnProgram(std::string_view key, const RuleContext& c, const ProgramFacts& facts,
                                       const Advice& own)
{
    const auto row = std::ranges::find(kAnswers, key, &AnswerRow::key);
    if (row == kAnswers.end())
        return std::nullopt;
    if (own.state == State::CannotTell)
        return row->answer(c, facts);
    if (!row->always || own.state != State::Silent)
        return std::nullopt;
    auto answer = row->answer(c, facts);
    return answer && answer->state == State::Fires ? answer : std::nullopt;
}

std::vector<SourcePlace> sourcesOf(std::string_view key, const ProgramFacts& facts)
{
    std::vector<SourcePlace> places;
    const auto row = std::ranges::find(kSubjects, key, &SubjectRow::key);
    if (row == kSubjects.end())
        return places;
    for (const Subject& subject : row->subjects) {
        if (!places.empty() || subject.kind.empty())
            break; // the first subject that exists in the program
        if (subject.kind == "conv_bn") {
            for (const ConvolutionBeforeNorm& found : facts.convolutionsBeforeNorm)
                if (found.bias)
                    add(places, found.site, found.convolution);
        } else if (subject.kind == "attention") {
            for (const ProgramAttention& found : facts.attention)
                if (!found.fused)
                    add(places, found.site, "softmax");
        } else
            addObjects(places, facts, subject);
    }
    return places;
}

} // namespace advisor
