#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <deque>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "attention";
// Scaling, masking and dropout run between the matmuls and the softmax; if there are more operators in between, they do
// not belong to attention.
constexpr std::size_t kBetween = 6;
// Minimum share of all work: below it, the looser tolerance of another implementation is not worth accepting.
constexpr double kMinimumShare = 0.02;

/// Sampling from a softmax is done by a router or a sampler, and a loss follows a classifier; neither is attention,
/// whatever matmuls run before and after.
enum class Part : std::uint8_t { Other, Product, Softmax, Fused, Apart };

bool isLoss(std::string_view name)
{
    return name.find("loss") != name.npos || name.find("cross_entropy") != name.npos ||
           name.find("CrossEntropy") != name.npos;
}

Part partOfOp(std::string_view op)
{
    if (op == "aten::topk" || op == "aten::sort" || op == "aten::argmax" || op == "aten::multinomial" || isLoss(op))
        return Part::Apart;
    if (op == "aten::bmm" || op == "aten::matmul" || op == "aten::baddbmm" || op == "aten::einsum")
        return Part::Product;
    if (op == "aten::softmax" || op == "aten::_softmax")
        return Part::Softmax;
    return op.find("scaled_dot_product") != op.npos || op.find("_attention_forward") != op.npos ? Part::Fused
                                                                                                : Part::Other;
}

/// The softmax of a loss is a log-softmax. The first flag of PyTorch's softmax_warp_forward and …backward says so.
/// Source: aten/src/ATen/native/cuda/PersistentSoftmax.cuh, <input, output, acc, log2_elements, is_log_softmax, …>.
bool isLogarithmic(std::string_view kernel)
{
    if (kernel.find("LogSoftMax") != kernel.npos || kernel.find("log_softmax") != kernel.npos)
        return true;
    const auto warp = kernel.find("softmax_warp_");
    const auto flags = warp == kernel.npos ? warp : kernel.find('<', warp);
    if (flags == kernel.npos)
        return false;
    const auto yes = kernel.find("true", flags);
    return yes != kernel.npos && yes < std::min(kernel.find("false", flags), kernel.find('(', flags));
}

Part partOfKernel(std::string_view kernel)
{
    const auto has = [kernel](std::string_view mark) { return kernel.find(mark) != kernel.npos; };
    if (has("topk") || has("topK") || has("TopK") || has("Topk") || has("Sort") || has("_sort") || has("Moe") ||
        has("moe") || has("multinomial") || isLoss(kernel))
        return Part::Apart;
    switch (kernelClass(kernel)) {
    case KernelClass::Gemm:
        return Part::Product;
    case KernelClass::Attention:
        return Part::Fused;
    default:
        return (has("softmax") || has("SoftMax")) && !isLogarithmic(kernel) ? Part::Softmax : Part::Other;
    }
}

struct Attention {
    std::int64_t writtenOut = 0, fused = 0;
    Nanoseconds time{}; ///< from the first matmul to the second, inclusive
    Nanoseconds work{}; ///< of all operators or kernels searched
    std::vector<SliceId> softmaxes;
    SliceSet slices; ///< everything from the first to the second matmul of each match
};

/// Finds matmul … softmax … matmul in a sequence of operators or kernels.
class Finder {
public:
    explicit Finder(Attention& found) : m_found(found) {}
    /// @param step the step that the slice belongs to: the last layer of a classifier and the first layer of the next
    /// step are not a pair
    void add(const SliceBrief& slice, Part part, std::size_t step)
    {
        m_found.fused += part == Part::Fused ? 1 : 0;
        if (part == Part::Apart || step != m_step)
            m_last.clear();
        m_step = step;
        if (part == Part::Apart)
            return;
        m_last.push_back({slice.id, slice.duration, part});
        if (part == Part::Product)
            close();
        if (m_last.size() > 2 * kBetween)
            m_last.pop_front();
    }

private:
    struct Entry {
        SliceId id;
        Nanoseconds duration{};
        Part part{};
    };

    /// Checks whether the matmul that was just added completes a match.
    void close()
    {
        std::size_t softmax = 0;
        for (std::size_t i = m_last.size() - 1; i-- > 0 && m_last.size() - 1 - i <= kBetween;)
            if (m_last[i].part == Part::Softmax) {
                softmax = i + 1;
                break;
            }
        if (softmax == 0)
            return;
        for (std::size_t i = softmax - 1; i-- > 0 && softmax - 1 - i <= kBetween;) {
            if (m_last[i].part != Part::Product)
                continue;
            ++m_found.writtenOut;
            if (m_found.softmaxes.size() < kMostEvidence)
                m_found.softmaxes.push_back(m_last[softmax - 1].id);
            for (std::size_t j = i; j < m_last.size(); ++j) {
                m_found.time += m_last[j].duration;
                m_found.slices.insert(m_last[j].id);
            }
            m_last.clear();
            return;
        }
    }

    Attention& m_found;
    std::deque<Entry> m_last;
    std::size_t m_step = 0;
};

/// Number of steps that begin at or before the time.
std::size_t stepAt(const std::vector<TimeRange>& steps, TraceTime time)
{
    return static_cast<std::size_t>(
        std::upper_bound(steps.begin(), steps.end(), time,
                         [](TraceTime at, const TimeRange& step) { return at < step.begin; }) -
        steps.begin());
}

/// Kernel names do not always distinguish softmax from log-softmax. True if the operators show that the trace contains
/// only log-softmax (the loss).
bool onlyLogarithms(const Trace& trace)
{
    return anyName(trace, [](std::string_view name) { return name == "aten::_log_softmax"; }) &&
           !anyName(trace, [](std::string_view name) { return name == "aten::_softmax"; });
}

/// Searches the kernels of the analysis window, the same kernels whose times are added up as the work.
Attention amongKernels(const RuleContext& c)
{
    Attention found;
    found.work = c.facts.device.work.all.time;
    const bool onlyLogs = onlyLogarithms(c.trace);
    NameAnswers parts(c.trace, [onlyLogs](std::string_view kernel) {
        const Part part = partOfKernel(kernel);
        return part == Part::Softmax && onlyLogs ? Part::Other : part;
    });
    for (const Track& track : c.trace.tracks()) {
        if (track.kind != TrackKind::Stream)
            continue;
        Finder finder(found);
        for (const SliceBrief& kernel : kernelsOf(c.trace, track.id))
            if (beginsWithin(kernel.begin, c.facts.device.window))
                finder.add(kernel, parts(kernel.name), stepAt(c.facts.device.steps, kernel.begin));
    }
    return found;
}

/// Searches the steps whose operators were recorded, without validation; if there are no such steps, the whole trace.
Attention amongOps(const RuleContext& c)
{
    Attention found;
    std::vector<TimeRange> steps = stepsWithOps(c);
    if (steps.empty())
        steps = {kAllTime};
    const Intervals validating = validations(c.trace);
    NameAnswers parts(c.trace, partOfOp);
    for (const auto& [track, ops] : c.ops()) {
        Finder finder(found);
        for (const SliceBrief& op : ops) {
            if (!beginsWithin(op.begin, steps) || beginsWithin(op.begin, validating))
                continue;
            found.work += op.duration;
            finder.add(op, parts(op.name), stepAt(steps, op.begin));
        }
    }
    return found;
}

Advice finding(const RuleContext& c, const Attention& found, double share)
{
    Advice advice = fires(
        message<"attention.written_out",
                "Attention runs as separate matmul, softmax and matmul operators, {count} times: {share} of the work.">(
            {{"count", found.writtenOut, countText(static_cast<double>(found.writtenOut))},
             {"share", share, shareText(share)}}));
    if (c.facts.device.work.all.count > 0) {
        const KernelBound bound = boundByKernels(c, found.slices);
        if (!bound.matters())
            return offTheCriticalPath(bound);
        setBound(advice, c, bound);
    } else {
        advice.timeShare = shareOfTime(c, share);
        advice.whyNoPrediction =
            message<"attention.other_kernels",
                    "The change runs other kernels, whose times are not in this trace: measure it.">();
    }
    advice.caveats = {
        message<"attention.tolerance",
                "The result matches within the tolerance of the data type; it is not bitwise identical.">(),
        message<"attention.weights", "Code that reads the attention weights needs the unfused implementation.">()};
    setToggle(advice, c, kKey, "sdpa");
    addEvidence(advice, c.trace, found.softmaxes);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "sdpa")
        return silent(message<"attention.on", "Attention already runs as one operator (SDPA).">());
    const bool kernels = c.facts.device.work.all.count > 0;
    if (!kernels && c.facts.ops.stepsWithOps == 0 && !profiler::analysis::hasKind(c.trace, ActivityKind::CpuOp))
        return cannotTell(message<"attention.unrecorded", "Neither operators nor kernels were recorded.">(),
                          Need::Operators);
    const Attention found = kernels ? amongKernels(c) : amongOps(c);
    if (found.writtenOut == 0)
        return silent((found.fused > 0 ? message<"attention.fused", "Attention is already fused ({count} times).">(
                                             {{"count", found.fused, countText(static_cast<double>(found.fused))}})
                                       : message<"attention.none", "No softmax runs between two matmuls.">()));
    const double share = found.work.count() > 0 ? toUs(found.time) / toUs(found.work) : 0;
    if (share < kMinimumShare)
        return silent(message<"attention.little", "Unfused attention takes only {share} of the work.">(
            {{"share", share, shareText(share)}}));
    return finding(c, found, share);
}

} // namespace

Rule attention()
{
    return {kKey, "Attention is not fused", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
