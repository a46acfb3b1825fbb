#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "cudnn.benchmark";
// Minimum share of kernel time. Chosen: an algorithm that is 10 % faster then saves 1 %, the smallest gain that an
// experiment reports.
constexpr double kMinimumShare = 0.1;
// Details are read from the file one at a time, so only the first few are read.
constexpr std::size_t kMostRead = 8;
// Minimum share of steps that have the most common shapes: the last batch of an epoch may be smaller.
constexpr double kFixedShapes = 0.5;

struct Settings {
    std::optional<bool> benchmark;  ///< as passed to the operators
    std::optional<bool> shapesVary; ///< between steps; no value if the shapes of several steps are not recorded
    std::vector<SliceId> convolutions;
};

/// Index of the benchmark flag among the operator's inputs. Source: ATen's native_functions.yaml.
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

/// Collects the convolution shapes of each step.
class ShapesOfSteps {
public:
    explicit ShapesOfSteps(std::vector<TimeRange> steps) : m_steps(std::move(steps)), m_shapes(m_steps.size()) {}
    void add(const Slice& op)
    {
        const auto after = std::upper_bound(m_steps.begin(), m_steps.end(), op.begin,
                                            [](TraceTime time, const TimeRange& step) { return time < step.begin; });
        if (op.args.shapes.value != 0 && after != m_steps.begin() && std::prev(after)->contains(op.begin))
            m_shapes[static_cast<std::size_t>(std::prev(after) - m_steps.begin())].insert(op.args.shapes.value);
    }
    [[nodiscard]] std::optional<bool> vary() const
    {
        std::map<std::set<std::uint32_t>, std::int64_t> steps;
        std::int64_t all = 0, most = 0;
        for (const auto& shapes : m_shapes)
            if (!shapes.empty()) {
                most = std::max(most, ++steps[shapes]);
                ++all;
            }
        return all > 1 ? std::optional(static_cast<double>(most) <= kFixedShapes * static_cast<double>(all))
                       : std::nullopt;
    }

private:
    std::vector<TimeRange> m_steps;
    std::vector<std::set<std::uint32_t>> m_shapes; ///< string ids
};

Settings settings(const RuleContext& c)
{
    Settings found;
    ShapesOfSteps shapes(stepsWithOps(c));
    std::size_t read = 0;
    for (const Slice& op :
         ofKindNamed(c.trace, ActivityKind::CpuOp, [](std::string_view name) { return flagPlace(name).has_value(); })) {
        const auto place = flagPlace(c.trace.name(op));
        shapes.add(op);
        if (!found.benchmark && read < kMostRead) {
            ++read;
            found.benchmark = benchmarkFlag(c.trace, op, *place);
        }
        if (found.convolutions.size() < kMostEvidence)
            found.convolutions.push_back(op.id);
    }
    found.shapesVary = shapes.vary();
    return found;
}

Advice check(const RuleContext& c)
{
    if (auto advice =
            withoutDeviceWork(c, message<"cudnn.benchmark.cpu", "The run used only the CPU, without cuDNN.">()))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    const double share = work.share(KernelClass::Convolution);
    if (work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    if (share < kMinimumShare)
        return silent(message<"cudnn.benchmark.small_part", "Convolutions take only {share} of kernel time.">(
            {{"share", share, shareText(share)}}));
    Settings found = settings(c);
    if (const auto configured = setting(c, kKey))
        found.benchmark = *configured == "true";
    if (!found.benchmark)
        return cannotTell(message<"cudnn.benchmark.flags_not_recorded",
                                  "The trace does not record the flags of aten::_convolution.">(),
                          Need::Shapes);
    if (*found.benchmark)
        return silent(message<"cudnn.benchmark.on", "cuDNN's autotuner is already on.">());
    if (found.shapesVary.value_or(false))
        return silent(message<"cudnn.benchmark.shapes_vary",
                              "Convolution shapes vary between steps: each new shape would be tuned again.">());
    const KernelBound bound =
        boundByKernels(c, [](std::string_view kernel) { return isConvolution(kernel) ? 0.0 : 1.0; });
    if (!bound.matters())
        return offTheCriticalPath(bound);
    Advice advice = fires(
        found.shapesVary
            ? message<"cudnn.benchmark.fixed_shapes", "Convolutions take {share} of kernel time, have fixed shapes and "
                                                      "run algorithms that cuDNN chose by heuristics.">(
                  {{"share", share, shareText(share)}})
            : message<"cudnn.benchmark.heuristics",
                      "Convolutions take {share} of kernel time and run algorithms that cuDNN chose by heuristics.">(
                  {{"share", share, shareText(share)}}));
    setBound(advice, c, bound);
    advice.caveats = {
        message<"cudnn.benchmark.new_shapes", "Every new shape is tuned again.">(),
        message<"cudnn.benchmark.memory",
                "Tuning needs memory: with the largest batch size that fits, it fails or chooses slow algorithms.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, found.convolutions);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, workShare(c, isConvolution).longest);
    return advice;
}

} // namespace

Rule cudnn_benchmark()
{
    return {kKey, "Convolutions use algorithms that were not autotuned", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
