#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "cudnn.benchmark";
// Of kernel time: below, another algorithm cannot be told from noise.
constexpr double kWorthTrying = 0.1;
// Details are read from the file one by one: the first of them tell.
constexpr std::size_t kMostRead = 8;
// Shapes that come back: at most so many different ones for each step's worth of convolutions.
constexpr double kFixedShapes = 1.5;

struct Settings {
    std::optional<bool> benchmark; ///< as the operators were called
    bool shapesVary = false;
    std::vector<SliceId> convolutions;
};

/// The flag's place among the inputs of the operator that has it. Source: ATen's native_functions.yaml.
std::optional<std::size_t> flagPlace(std::string_view op)
{
    if (op == "aten::_convolution")
        return 9;
    if (op == "aten::cudnn_convolution")
        return 6;
    return std::nullopt;
}

std::optional<bool> benchmarkFlag(const Trace& trace, const Slice& op, std::size_t place)
{
    const auto inputs = listEntries(detail(trace, op.id, "Concrete Inputs"));
    if (inputs.size() <= place || (inputs[place] != "True" && inputs[place] != "False"))
        return std::nullopt;
    return inputs[place] == "True";
}

Settings settings(const Case& c)
{
    Settings found;
    std::set<std::uint32_t> shapes;
    std::int64_t count = 0;
    std::size_t read = 0;
    for (const Slice& op :
         ofKindNamed(c.trace, ActivityKind::CpuOp, [](std::string_view name) { return flagPlace(name).has_value(); })) {
        const auto place = flagPlace(c.trace.name(op));
        ++count;
        shapes.insert(op.args.shapes.value);
        if (!found.benchmark && read < kMostRead) {
            ++read;
            found.benchmark = benchmarkFlag(c.trace, op, *place);
        }
        if (found.convolutions.size() < kMostEvidence)
            found.convolutions.push_back(op.id);
    }
    const auto steps = static_cast<double>(std::max<std::size_t>(1, c.facts.steps.size()));
    // With fixed shapes every step has the same ones, so there are as many as in one step, or fewer.
    found.shapesVary =
        steps > 1 && static_cast<double>(shapes.size()) > kFixedShapes * static_cast<double>(count) / steps;
    return found;
}

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU, without cuDNN."))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    const double share = work.share(KernelClass::Convolution);
    if (work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    if (share < kWorthTrying)
        return silent(fmt::format("Convolutions are only {} of kernel time.", shareText(share)));
    Settings found = settings(c);
    if (const auto configured = setting(c, kKey))
        found.benchmark = *configured == "true";
    if (!found.benchmark)
        return cannotTell("The trace does not record how convolutions were called (the flags of aten::_convolution).");
    if (*found.benchmark)
        return silent("The autotuner is on already.");
    if (found.shapesVary)
        return silent("The shapes of convolutions vary from step to step: each would be tuned anew.");
    Advice advice =
        fires(fmt::format("Convolutions are {} of kernel time, have fixed shapes, and run the algorithms that cuDNN's "
                          "rule of thumb chose.",
                          shareText(share)));
    advice.concerns = shareOfTime(c, share);
    advice.whyNoPrediction = "Other algorithms are other kernels, whose times are not in this trace: measure it.";
    advice.caveats = {"Shapes that vary are tuned anew each time.",
                      "The trials need memory: with the largest batch that fits they fail or choose slow algorithms."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, found.convolutions);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, workShare(c, isConvolution).longest);
    return advice;
}

} // namespace

Rule cudnn_benchmark()
{
    return {kKey, "Convolutions run untuned algorithms", check};
}

} // namespace advisor::rules
