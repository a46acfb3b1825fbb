#include "advisor/evidence/run_facts.h"

#include "advisor/advice.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

using profiler::ActivityKind;

bool containsAny(std::string_view text, std::initializer_list<std::string_view> parts)
{
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != text.npos; });
}

/// Uses the kernels of the analysis window, like all other figures about kernel classes.
WorkShare kernelShare(const RuleContext& c, bool (*fits)(std::string_view))
{
    const profiler::Trace& trace = c.trace;
    WorkShare result{.recorded = true, .share = 0, .longest = {}};
    std::vector<std::pair<profiler::Nanoseconds, profiler::SliceId>> fitting;
    profiler::Nanoseconds all{0}, some{0};
    profiler::analysis::NameAnswers answers(trace, fits);
    for (const profiler::Track& track : trace.tracks())
        profiler::analysis::forEachViewOf(
            trace, track.id, ActivityKind::Kernel, [&](const profiler::analysis::SliceView& kernel) {
                if (!profiler::analysis::beginsWithin(kernel.begin(), c.facts.device.window))
                    return;
                all += kernel.duration();
                if (!answers(kernel.nameId()))
                    return;
                some += kernel.duration();
                fitting.emplace_back(kernel.duration(), kernel.id());
            });
    result.share = all.count() > 0 ? static_cast<double>(some.count()) / static_cast<double>(all.count()) : 0;
    std::stable_sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < std::min(fitting.size(), kMostEvidence); ++i)
        result.longest.push_back(fitting[i].second);
    return result;
}

WorkShare opShare(const profiler::analysis::OpCosts& costs, bool (*fits)(std::string_view))
{
    WorkShare result{.recorded = costs.stepsWithOps > 0, .share = 0, .longest = {}};
    double all = 0, some = 0;
    for (const auto& op : costs.ops) {
        if (op.phase == profiler::phase::kValidation)
            continue;
        all += op.selfUsPerStep;
        if (!fits(op.name))
            continue;
        some += op.selfUsPerStep;
        if (result.longest.size() < kMostEvidence)
            result.longest.push_back(op.longest);
    }
    result.share = all > 0 ? some / all : 0;
    return result;
}

/// Operators that exist only for GPUs. cudnn_is_acceptable is excluded, because it also runs on a CPU.
bool isGpuOperator(std::string_view op)
{
    const auto begins = [op](std::string_view with) { return op.starts_with(with); };
    if (begins("aten::cudnn_"))
        return op != "aten::cudnn_is_acceptable";
    return begins("aten::_cudnn_") || begins("aten::miopen_") || begins("aten::_thnn_fused_") ||
           begins("aten::_flash_attention_") || begins("aten::_efficient_attention_") ||
           begins("aten::_scaled_dot_product_efficient_attention") ||
           begins("aten::_scaled_dot_product_cudnn_attention") ||
           (begins("aten::_scaled_dot_product_flash_attention") && op.find("for_cpu") == op.npos);
}

bool hasGpuMemory(const profiler::Trace& trace)
{
    const auto tracks = trace.tracks();
    return std::any_of(tracks.begin(), tracks.end(), [](const profiler::Track& track) {
        return track.kind == profiler::TrackKind::Counter && track.name.starts_with("GPU ") &&
               track.name.find("memory") != std::string::npos;
    });
}

} // namespace

bool hasDeviceWork(const profiler::Trace& trace)
{
    const auto tracks = trace.tracks();
    return std::any_of(tracks.begin(), tracks.end(), [&](const profiler::Track& track) {
        return track.kind == profiler::TrackKind::Stream && trace.sliceCount(track.id) > 0;
    });
}

bool containsTraining(const profiler::Trace& trace)
{
    return profiler::analysis::hasKind(trace, ActivityKind::CpuOp) ||
           profiler::analysis::hasKind(trace, ActivityKind::Phase);
}

bool ranOnCpu(const RuleContext& c)
{
    // An empty trace, or one with counters only, does not show where the work was done.
    if (!c.config && !containsTraining(c.trace))
        return false;
    const bool asked = c.config && (*c.config)[config::key::device] == "cuda";
    const bool shown = !c.config && (profiler::analysis::anyName(c.trace, isGpuOperator) || hasGpuMemory(c.trace));
    return !asked && c.trace.devices().empty() && !hasDeviceWork(c.trace) && !shown;
}

int computeThreads(const RuleContext& c)
{
    if (!ranOnCpu(c))
        return 1;
    const std::string_view recorded = metadata(c.trace, "host.threads");
    int threads = 0;
    std::from_chars(recorded.data(), recorded.data() + recorded.size(), threads);
    if (threads == 0 && c.config)
        threads = static_cast<int>((*c.config)[config::key::threads]);
    return threads > 0 ? threads : std::max(c.facts.input.cores, 1);
}

std::string_view metadata(const profiler::Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string_view() : std::string_view(entry->second);
}

std::optional<std::string> setting(const RuleContext& c, std::string_view key)
{
    return c.config && config::findKnob(key) ? std::optional(c.config->text(key)) : std::nullopt;
}

std::vector<profiler::TimeRange> stepsWithOps(const RuleContext& c)
{
    const auto& steps = c.facts.steps;
    const bool steady = std::any_of(steps.begin(), steps.end(), [](const profiler::analysis::Step& step) {
        return step.opsRecorded && profiler::analysis::isSteady(step);
    });
    std::vector<profiler::TimeRange> ranges;
    for (const profiler::analysis::Step& step : steps)
        if (step.opsRecorded && !step.partial && (!steady || profiler::analysis::isSteady(step)))
            ranges.push_back(profiler::analysis::onHost(step));
    return ranges;
}

profiler::analysis::Intervals validations(const profiler::Trace& trace)
{
    profiler::analysis::UnionBuilder found;
    for (const profiler::Slice& phase : trace.ofKind(ActivityKind::Phase))
        if (trace.name(phase) == profiler::phase::kValidation)
            found.add(phase.range());
    return found.take();
}

std::vector<std::size_t> firstOfEpochs(const RuleContext& c)
{
    const auto& steps = c.facts.steps;
    std::vector<bool> first(steps.size(), false);
    std::vector<std::int64_t> batch(steps.size(), -1);
    const profiler::analysis::Intervals validating = validations(c.trace);
    const auto isPhase = [](std::string_view name) {
        return name == profiler::phase::kValidation || name == profiler::phase::kWorkerStart ||
               name == profiler::phase::kDataWait;
    };
    for (const profiler::Slice& phase : profiler::analysis::ofKindNamed(c.trace, ActivityKind::Phase, isPhase)) {
        const auto ending = std::upper_bound(
            steps.begin(), steps.end(), phase.begin,
            [](profiler::TraceTime time, const profiler::analysis::Step& step) { return time < step.range.end; });
        if (ending == steps.end())
            continue;
        const auto i = static_cast<std::size_t>(ending - steps.begin());
        const bool inside = phase.begin >= steps[i].range.begin;
        const std::string_view name = c.trace.name(phase);
        if (name == profiler::phase::kDataWait) {
            if (inside && phase.id.track == steps[i].slice.track &&
                profiler::analysis::overlapping(validating, phase.range()).empty())
                batch[i] = phase.args.value;
        } else if (name == profiler::phase::kWorkerStart || !inside) {
            first[i] = true;
        } else if (i + 1 < steps.size()) { // a validation at the end of a step
            first[i + 1] = true;
        }
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (i == 0 || first[i] || (batch[i] >= 0 && batch[i] < batch[i - 1]))
            found.push_back(i);
    return found;
}

bool hadNoWorkers(const RuleContext& c)
{
    if (c.config)
        return (*c.config)[config::key::workers] == 0;
    if (const std::string_view recorded = metadata(c.trace, "loader.workers"); !recorded.empty())
        return recorded == "0";
    const auto hasPhase = [&](std::string_view name) {
        return !profiler::analysis::ofKindNamed(c.trace, profiler::ActivityKind::Phase, [&](std::string_view phase) {
                    return phase == name;
                }).empty();
    };
    return c.trace.format() == "stepscope" && c.facts.statistics.steadyCount > 0 && c.facts.input.workers == 0 &&
           hasPhase(profiler::phase::kDataWait) && !hasPhase(profiler::phase::kWorkerStart);
}

bool isConvolution(std::string_view name)
{
    return profiler::analysis::kernelClass(name) == profiler::analysis::KernelClass::Convolution ||
           (name.starts_with("aten::") && containsAny(name, {"conv"})); // transposed convolutions ("conv_transpose")
                                                                        // are not transpositions
}

bool isMatrixProduct(std::string_view name)
{
    return isConvolution(name) ||
           containsAny(name, {"gemm", "Gemm", "GEMM", "addmm", "::mm", "bmm", "matmul", "linear", "cutlass", "gemv"});
}

WorkShare workShare(const RuleContext& c, bool (*fits)(std::string_view name))
{
    return hasDeviceWork(c.trace) ? kernelShare(c, fits) : opShare(c.facts.ops, fits);
}

double RecordedWarmUp::share() const
{
    const double all = toUs(recorded.duration());
    return all > 0 ? oneTimeUs / all : 0;
}

std::string RecordedWarmUp::causesText() const
{
    std::string text;
    for (const OneTimePart& part : parts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", oneTimeText(part.kind), timeText(toUs(part.time)));
    return text;
}

std::vector<SliceId> RecordedWarmUp::longest() const
{
    std::vector<SliceId> slices;
    for (const OneTimePart& part : parts)
        for (const SliceId slice : part.longest)
            if (slices.size() < kMostEvidence)
                slices.push_back(slice);
    return slices;
}

RecordedWarmUp recordedWarmUp(const RuleContext& c)
{
    RecordedWarmUp found;
    const auto& steps = c.facts.steps;
    const auto& busy = c.facts.device.any;
    if (!steps.empty())
        found.recorded = {steps.front().range.begin, steps.back().range.end};
    else if (!busy.empty())
        found.recorded = {busy.front().begin, busy.back().end};
    else
        return found;
    const auto steady = std::find_if(steps.begin(), steps.end(), [](const Step& step) { return !step.warmup; });
    found.steps = static_cast<std::size_t>(steady - steps.begin());
    double us = 0;
    for (auto step = steps.begin(); step != steady; ++step)
        us += toUs(step->range.duration());
    if (c.facts.statistics.steadyCount > 0)
        found.excessUs = us - static_cast<double>(found.steps) * c.facts.statistics.steadyMeanUs;
    found.parts = oneTimeWork(c.trace, found.recorded);
    const std::vector<TimeRange> recorded{found.recorded};
    found.oneTimeUs = toUs(total(intersect(oneTimeIntervals(found.parts), recorded)));
    return found;
}

} // namespace advisor
