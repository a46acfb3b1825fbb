#include "advisor/advice.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <string>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "precision.float64";
// Share of the parameters. Chosen: a model with a few double parameters, such as a learned scale, computes in another
// type.
constexpr double kMinimumParameters = 0.5;
// Share of the step, as for the other precisions (precision_amp.cpp).
constexpr double kMinimumShare = 0.05;

/// Where the program chooses the type: the default, a call of double(), or else the construction of the model.
std::vector<SourcePlace> placesOf(const ProgramFacts& program)
{
    const ProgramObject* chosen = nullptr;
    for (const ProgramObject& object : program.objects) {
        const ProgramSetting* value = object.setting("value");
        const bool isDefault = object.kind == "flag" && object.className == "torch.set_default_dtype" && value &&
                               value->value == "torch.float64";
        if (!object.site || !(isDefault || object.kind == "cast" || object.kind == "model"))
            continue;
        if (!chosen || (chosen->kind == "model" && object.kind != "model") || isDefault)
            chosen = &object;
    }
    return chosen ? std::vector{*chosen->site} : std::vector<SourcePlace>();
}

Advice check(const RuleContext& c)
{
    if (c.config)
        return silent(message<"precision.float64.trainer", "The trainer computes in float32 or less.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const std::optional<ProgramFacts> program = programOf(c.trace).facts;
    std::int64_t parameters = 0, doubles = 0;
    if (program)
        for (const ProgramModule& module : program->modules) {
            parameters += module.parameters;
            doubles += module.dtype == "float64" ? module.parameters : 0;
        }
    if (parameters <= 0)
        return cannotTell(message<"precision.float64.not_recorded", "The types of the parameters are not recorded.">(),
                          Need::Program);
    const double ofParameters = static_cast<double>(doubles) / static_cast<double>(parameters);
    const MessageParameter part("part", ofParameters, shareText(ofParameters));
    if (ofParameters < kMinimumParameters)
        return silent(message<"precision.float64.few", "{part} of the model's parameters are float64.">({part}));
    const analysis::StepStatistics& steps = c.facts.statistics;
    const analysis::StepParts& parts = steps.steadyMeanParts;
    const double share =
        analysis::toUs(parts.forward + parts.backward + parts.optimizer + parts.zeroGrad) / steps.steadyMeanUs;
    const MessageParameter shown("share", share, shareText(share));
    if (share < kMinimumShare)
        return silent(
            message<"precision.float64.little",
                    "{part} of the model's parameters are float64, but its passes and the optimizer take only "
                    "{share} of a step.">({part, shown}));
    Advice advice =
        fires(message<"precision.float64.model",
                      "{part} of the model's parameters are float64. Its forward and backward passes and the "
                      "optimizer take {share} of each step.">({part, shown}));
    advice.timeShare = std::min(1.0, share);
    advice.whyNoPrediction =
        message<"precision.float64.other_kernels", "float32 runs other kernels, whose times are not in this trace: "
                                                   "measure it.">();
    advice.whyNoToggle =
        message<"precision.float64.no_toggle", "No setting changes it: make the model and its inputs float32.">();
    advice.caveats = {message<"precision.float64.needed",
                              "Some computations need float64: gradient checks, physical simulations, sums of very "
                              "different numbers.">()};
    advice.source = placesOf(*program);
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule precision_float64()
{
    return {kKey, "The model computes in float64", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
