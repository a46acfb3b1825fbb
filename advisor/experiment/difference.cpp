#include "advisor/experiment/difference.h"

#include "advisor/advice.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/experiment/losses.h"
#include "advisor/experiment/statistics.h"
#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/op_costs.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/number_text.h"
#include "trainer/config/training_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

using StepPairs = std::vector<std::pair<double, double>>;

/// Compares the batch sizes of two traces by the inputs of their operators.
struct BatchByShapes {
    profiler::Message difference; ///< empty: no difference was found
    /// True if there is no other explanation. In the input of a convolution, samples come first; in the input of a
    /// linear layer, a sequence may come first, or all tokens in one dimension.
    bool certain = false;
};

/// The first shape of "[[32, 3, 224, 224], [64, 3, 7, 7], …": 32, 3, 224, 224.
std::vector<std::int64_t> firstShape(std::string_view shapes)
{
    std::vector<std::int64_t> dimensions;
    if (!shapes.starts_with("[["))
        return dimensions;
    const char *at = shapes.data() + 2, *const end = shapes.data() + shapes.size();
    while (at < end && *at != ']') {
        std::int64_t number = 0;
        const auto parsed = std::from_chars(at, end, number);
        if (parsed.ec != std::errc())
            return {};
        dimensions.push_back(number);
        at = std::find_if(parsed.ptr, end, [](char c) { return c != ',' && c != ' '; });
    }
    return dimensions;
}

/// The input shapes of an operator.
struct Inputs {
    std::map<std::int64_t, std::int64_t> leading;  ///< first dimension → number of inputs
    std::set<std::vector<std::int64_t>> otherwise; ///< the dimensions between the first and the last
};

Inputs inputsOf(const Trace& trace, std::string_view op)
{
    std::map<StringId, std::int64_t> shapes;
    for (const Slice& slice :
         ofKindNamed(trace, ActivityKind::CpuOp, [op](std::string_view name) { return name == op; }))
        if (slice.args.shapes.value != 0)
            ++shapes[slice.args.shapes];
    Inputs inputs;
    for (const auto& [id, count] : shapes) {
        const std::vector<std::int64_t> shape = firstShape(trace.string(id));
        if (shape.size() < 2 || shape.front() <= 0)
            continue;
        inputs.leading[shape.front()] += count;
        inputs.otherwise.emplace(shape.begin() + 1, shape.end() - 1);
    }
    return inputs;
}

/// The most common first dimension.
std::int64_t usual(const Inputs& inputs)
{
    return std::max_element(inputs.leading.begin(), inputs.leading.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

// Minimum share of the time in work that both traces contain: below it, they do different work.
constexpr double kSameWork = 0.1;

/// µs by kernel or operator.
using Work = std::map<std::string, double, std::less<>>;

/// Share of both traces' time in work that both contain; 1 if there is no work.
double commonShare(const Work& a, const Work& b)
{
    double all = 0, common = 0;
    for (const Work* work : {&a, &b})
        for (const auto& [name, us] : *work) {
            all += us;
            common += a.contains(name) && b.contains(name) ? us : 0;
        }
    return all > 0 ? common / all : 1;
}

Work kernelWork(const ActivityScan& scan)
{
    Work work;
    for (const KernelTotal& kernel : scan.kernels)
        work[kernel.name] += toUs(kernel.time);
    return work;
}

/// Self times of operators, by name and shapes.
class OperatorWork {
public:
    explicit OperatorWork(const Trace& trace) : m_trace(trace)
    {
        for (const Track& track : trace.tracks())
            if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
                forEachNested(briefsWhere(trace, track.id,
                                          [](const SliceView& slice) { return slice.kind() == ActivityKind::CpuOp; }),
                              [&](const NestedBrief& nested) { add(nested); });
    }
    [[nodiscard]] bool hasShapes() const { return m_shapes; }
    [[nodiscard]] Work work(bool byShapes) const
    {
        Work work;
        for (const auto& [op, time] : m_times) {
            std::string name(m_trace.string(op.first));
            if (byShapes)
                name.append(1, ' ').append(m_trace.string(op.second));
            if (!isProfilerStep(m_trace.string(op.first)))
                work[std::move(name)] += toUs(time);
        }
        return work;
    }

private:
    void add(const NestedBrief& nested)
    {
        const StringId shapes = m_trace.slice(nested.slice->id).args.shapes;
        m_shapes = m_shapes || !m_trace.string(shapes).empty();
        m_times[{nested.slice->name, shapes}] += nested.self;
    }

    const Trace& m_trace;
    bool m_shapes = false;
    std::map<std::pair<StringId, StringId>, Nanoseconds> m_times;
};

constexpr std::size_t kMostKernels = 30, kMostRows = 30;
// If the means differ from the statistic by more than this, a note is added, because readers see both figures.
constexpr double kMeanAndMedianAgree = 0.05;

/// Uses the first of these operators whose shapes both traces record: convolutions, linear layers. For linear layers,
/// the result is certain if all inputs of a trace begin with the same number and the other dimensions are equal in both
/// traces.
BatchByShapes batchByShapes(const Trace& a, const Trace& b)
{
    constexpr std::string_view kLinear = "aten::linear";
    for (const std::string_view op : {std::string_view("aten::conv2d"), std::string_view("aten::_convolution"),
                                      std::string_view("aten::conv1d"), std::string_view("aten::conv3d"), kLinear}) {
        const Inputs inA = inputsOf(a, op), inB = inputsOf(b, op);
        if (inA.leading.empty() || inB.leading.empty())
            continue;
        const std::int64_t samplesA = usual(inA), samplesB = usual(inB);
        if (samplesA == samplesB)
            return {};
        if (op != kLinear || (inA.leading.size() == 1 && inB.leading.size() == 1 && inA.otherwise == inB.otherwise))
            return {message<"diff.not_comparable.batch_by_shapes",
                            "The inputs of {operator} show different batch sizes: {a} and {b}.">(
                        {{"operator", op}, {"a", samplesA}, {"b", samplesB}}),
                    true};
        return {message<"diff.note.batch_by_shapes",
                        "The batch sizes may differ: most inputs of {operator} start with {a} and {b}. Sequences in "
                        "the first dimension or packed tokens would also explain this.">(
                    {{"operator", op}, {"a", samplesA}, {"b", samplesB}}),
                false};
    }
    return {};
}

std::string joined(const std::multiset<std::string>& names)
{
    std::string text;
    for (auto name = names.begin(); name != names.end(); name = names.upper_bound(*name)) {
        const std::size_t count = names.count(*name);
        text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} × ", count) : std::string()) + *name;
    }
    return text;
}

/// The models of a recorded program: "ResNet (11,689,512 parameters)". Empty if none was recorded.
std::string modelsOf(const ProgramFacts& program)
{
    std::multiset<std::string> models;
    for (const ProgramObject* model : program.ofKind("model"))
        models.insert(
            fmt::format("{} ({} parameters)", model->shortName(), countText(model->number("parameters").value_or(0))));
    return joined(models);
}

/// Why two recorded programs do different work, by their models and the batch sizes of their loaders; empty: no
/// difference was found. No value if the models of one are unknown.
std::optional<Message> differentPrograms(const Trace& a, const Trace& b)
{
    const auto programA = programOf(a).facts, programB = programOf(b).facts;
    const std::string modelsA = programA ? modelsOf(*programA) : std::string();
    const std::string modelsB = programB ? modelsOf(*programB) : std::string();
    if (modelsA.empty() || modelsB.empty())
        return std::nullopt;
    if (modelsA != modelsB)
        return message<"diff.not_comparable.models", "The traces have different models: {a} and {b}.">(
            {{"a", modelsA}, {"b", modelsB}});
    // 0: unknown
    const auto batch = [](const ProgramFacts& program) {
        const ProgramObject* const loader = program.trainingLoader();
        return loader ? loader->number("batch_size").value_or(0) : 0;
    };
    const double batchA = batch(*programA), batchB = batch(*programB);
    if (batchA > 0 && batchB > 0 && batchA != batchB)
        return message<"diff.not_comparable.loader_batch", "The loaders have different batch sizes: {a} and {b}.">(
            {{"a", batchA, countText(batchA)}, {"b", batchB, countText(batchB)}});
    return Message{};
}

/// The reason why two traces do not, or may not, do the same work; empty: they do. Compares their kernels; if neither
/// has any, their operators (with shapes if both record them); if these are missing as well, the models and loaders of
/// recorded programs, or the model names of our own runs.
Message differentWork(const Trace& a, const Trace& b, const ActivityScan& scanA, const ActivityScan& scanB)
{
    if (!scanA.kernels.empty() || !scanB.kernels.empty()) {
        const double share = commonShare(kernelWork(scanA), kernelWork(scanB));
        return share < kSameWork
                   ? message<"diff.not_comparable.kernels", "The traces do different work: only {share} of the time is "
                                                            "in kernels that both traces contain.">(
                         {{"share", share, shareText(share)}})
                   : Message{};
    }
    const OperatorWork opsA(a), opsB(b);
    const bool byShapes = opsA.hasShapes() && opsB.hasShapes();
    const Work workA = opsA.work(byShapes), workB = opsB.work(byShapes);
    if (!workA.empty() && !workB.empty()) {
        const double share = commonShare(workA, workB);
        return share < kSameWork
                   ? message<"diff.not_comparable.operators", "The traces do different work: only {share} of the time "
                                                              "is in operators that both traces contain.">(
                         {{"share", share, shareText(share)}})
                   : Message{};
    }
    if (std::optional<Message> different = differentPrograms(a, b))
        return *std::move(different);
    if (a.metadata().contains("workload") && b.metadata().contains("workload"))
        return {};
    return message<"diff.not_comparable.work_unknown", "It is unknown whether the traces do the same work: they have "
                                                       "no kernels, no common operators and no known model.">();
}

bool isWhole(const Step& step)
{
    return !step.partial;
}

std::vector<double> stepsUs(const std::vector<Step>& steps, bool (*counts)(const Step&))
{
    std::vector<double> us;
    for (const Step& step : steps)
        if (counts(step))
            us.push_back(toUs(step.range.duration()));
    return us;
}

/// Counts kernels that begin in the counted steps.
std::vector<KernelTotal> kernelsOfSteps(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (isWhole(step))
            ranges.push_back(step.range);
    const Intervals counted = unite(std::move(ranges));
    std::map<StringId, KernelTotal> totals;
    for (const Track& track : trace.tracks())
        forEachViewOf(trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
            if (!beginsWithin(kernel.begin(), counted))
                return;
            KernelTotal& total = totals[kernel.nameId()];
            ++total.count;
            total.time += kernel.duration();
        });
    std::vector<KernelTotal> kernels;
    for (auto& [name, total] : totals) {
        total.name = trace.string(name);
        kernels.push_back(std::move(total));
    }
    return kernels;
}

std::string ratioText(double ratio)
{
    return fmt::format("{:.3f}", ratio);
}

/// "25 %", "3.4 %": formats a difference, with tenths of a percent only if it is small.
std::string percentText(double share)
{
    return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

double timeOf(const std::vector<KernelTotal>& kernels)
{
    double us = 0;
    for (const KernelTotal& kernel : kernels)
        us += toUs(kernel.time);
    return us;
}

/// Names of the devices that ran something, because a trace may list all devices of its machine; if those have no
/// names, of all devices.
std::multiset<std::string> hardware(const Trace& trace, const ActivityScan& scan)
{
    std::multiset<std::string> all, used;
    for (const Device& device : trace.devices())
        if (!device.name.empty()) {
            all.insert(device.name);
            if (scan.devices.contains(device.id))
                used.insert(device.name);
        }
    return used.empty() ? all : used;
}

std::string known(const Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string() : entry->second;
}

/// The fallback if the configuration does not contain it.
BatchByShapes unknownBatch(const Trace& a, const Trace& b)
{
    const bool areKnown = !known(a, "batch.size").empty() && !known(b, "batch.size").empty();
    return areKnown ? BatchByShapes{} : batchByShapes(a, b);
}

/// A setting in the metadata of a trace.
struct Setting {
    const char *key, *what;
};

void addDifferent(std::vector<Message>& why, std::span<const Setting> settings, const Trace& a, const Trace& b)
{
    for (const Setting& setting : settings) {
        const std::string inA = known(a, setting.key), inB = known(b, setting.key);
        if (!inA.empty() && !inB.empty() && inA != inB)
            why.push_back(message<"diff.not_comparable.setting", "The traces have different {what}: {a} and {b}.">(
                {{"what", setting.what}, {"key", setting.key}, {"a", inA}, {"b", inB}}));
    }
}

std::vector<Message> whyNotComparable(const Trace& a, const Trace& b, const ActivityScan& scanA,
                                      const ActivityScan& scanB, const BatchByShapes& batch)
{
    std::vector<Message> why;
    if (Message different = differentHardware(hardware(a, scanA), hardware(b, scanB)); !different.empty())
        why.push_back(std::move(different));
    if (scanA.devices.size() != scanB.devices.size())
        why.push_back(message<"diff.not_comparable.device_count", "The traces used {a} and {b} devices.">(
            {{"a", scanA.devices.size()}, {"b", scanB.devices.size()}}));
    constexpr Setting kRankCounts[] = {{"world_size", "world sizes"}, {"ranks", "numbers of ranks"}};
    addDifferent(why, kRankCounts, a, b);
    for (Message& different : differentSettings(a, b))
        why.push_back(std::move(different));
    if (batch.certain && !batch.difference.empty())
        why.push_back(batch.difference);
    if (Message different = differentWork(a, b, scanA, scanB); !different.empty())
        why.push_back(std::move(different));
    return why;
}

double spanUs(const ActivityScan& scan)
{
    TimeRange all{TraceTime::max(), TraceTime::min()};
    for (const auto& [id, device] : scan.devices)
        if (const Intervals any = device.any(); !any.empty()) {
            all.begin = std::min(all.begin, any.front().begin);
            all.end = std::max(all.end, any.back().end);
        }
    return all.begin < all.end ? toUs(all.duration()) : 0;
}

std::vector<Difference::Kernel> kernelChanges(const std::vector<KernelTotal>& a, const std::vector<KernelTotal>& b,
                                              double stepsA, double stepsB)
{
    std::map<std::string, Difference::Kernel> rows;
    for (const KernelTotal& kernel : a) {
        rows[kernel.name].countA = kernel.count;
        rows[kernel.name].aUs = toUs(kernel.time) / stepsA;
    }
    for (const KernelTotal& kernel : b) {
        rows[kernel.name].countB = kernel.count;
        rows[kernel.name].bUs = toUs(kernel.time) / stepsB;
    }
    std::vector<Difference::Kernel> changes;
    for (auto& [name, row] : rows) {
        row.name = name;
        changes.push_back(std::move(row));
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& x, const auto& y) { return std::abs(x.aUs - x.bUs) > std::abs(y.aUs - y.bUs); });
    changes.resize(std::min(changes.size(), kMostKernels));
    return changes;
}

std::vector<Difference::Row> sorted(std::map<std::string, Difference::Row>&& rows)
{
    std::vector<Difference::Row> changes;
    for (auto& [name, row] : rows) {
        row.name = name;
        changes.push_back(std::move(row));
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& x, const auto& y) { return std::abs(x.aUs - x.bUs) > std::abs(y.aUs - y.bUs); });
    changes.resize(std::min(changes.size(), kMostRows));
    return changes;
}

std::vector<Difference::Row> opChanges(const OpCosts& a, const OpCosts& b)
{
    std::map<std::string, Difference::Row> rows;
    if (a.stepsWithOps == 0 || b.stepsWithOps == 0)
        return {};
    for (const OpCost& op : a.ops)
        if (op.phase != phase::kValidation)
            rows[op.name].aUs += op.selfUsPerStep;
    for (const OpCost& op : b.ops)
        if (op.phase != phase::kValidation)
            rows[op.name].bUs += op.selfUsPerStep;
    return sorted(std::move(rows));
}

std::vector<Difference::Row> phaseChanges(const StepStatistics& a, const StepStatistics& b)
{
    if (a.steadyCount == 0 || b.steadyCount == 0)
        return {};
    struct Part {
        std::string_view name;
        Nanoseconds StepParts::*part;
    };
    std::map<std::string, Difference::Row> rows;
    for (const Part& part :
         {Part{phase::kDataWait, &StepParts::dataWait}, Part{phase::kCopy, &StepParts::copy},
          Part{phase::kForward, &StepParts::forward}, Part{phase::kBackward, &StepParts::backward},
          Part{phase::kOptimizer, &StepParts::optimizer}, Part{phase::kZeroGrad, &StepParts::zeroGrad},
          Part{phase::kMetrics, &StepParts::metrics}, Part{"other", &StepParts::other}})
        if (const double inA = toUs(a.steadyMeanParts.*part.part), inB = toUs(b.steadyMeanParts.*part.part);
            inA > 0 || inB > 0)
            rows[std::string(part.name)] = {{}, inA, inB};
    return sorted(std::move(rows));
}

std::vector<Difference::Row> classChanges(const std::vector<KernelTotal>& a, const std::vector<KernelTotal>& b,
                                          double stepsA, double stepsB)
{
    std::map<std::string, Difference::Row> rows;
    for (const KernelTotal& kernel : a)
        rows[std::string(kernelClassName(kernelClass(kernel.name)))].aUs += toUs(kernel.time) / stepsA;
    for (const KernelTotal& kernel : b)
        rows[std::string(kernelClassName(kernelClass(kernel.name)))].bUs += toUs(kernel.time) / stepsB;
    return a.empty() || b.empty() ? std::vector<Difference::Row>{} : sorted(std::move(rows));
}

Difference::Spread spreadOf(const std::vector<double>& us)
{
    return {static_cast<std::int64_t>(us.size()), percentile(us, 0.1), percentile(us, 0.5), percentile(us, 0.9)};
}

/// True if both runs are ours and no setting that affects the batches differs: then steps with the same number used the
/// same batch.
bool trainOnSameBatches(const Trace& a, const Trace& b)
{
    const auto configA = config::TrainingConfig::fromJson(known(a, "config"));
    const auto configB = config::TrainingConfig::fromJson(known(b, "config"));
    if (known(a, "config").empty() || known(b, "config").empty() || !configA || !configB)
        return false;
    std::vector<Toggle> changes;
    for (const config::Difference& change : config::difference(*configA, *configB))
        changes.push_back({change.key, change.a, change.b});
    return sameBatches(changes);
}

/// Durations of the steps with the same number that `counts` accepts in both runs.
StepPairs pairedSteps(const std::vector<Step>& stepsA, const std::vector<Step>& stepsB, bool (*counts)(const Step&))
{
    std::map<std::int64_t, double> inA;
    for (const Step& step : stepsA)
        if (counts(step))
            inA.emplace(step.index, toUs(step.range.duration()));
    StepPairs pairs;
    for (const Step& step : stepsB)
        if (const auto same = inA.find(step.index); counts(step) && same != inA.end())
            pairs.emplace_back(same->second, toUs(step.range.duration()));
    return pairs;
}

/// Pairs are used if they cover at least half of the steps of either run; otherwise they would exclude the parts that
/// differ.
Difference::Statistic statisticOf(const std::vector<Step>& stepsA, const std::vector<Step>& stepsB, bool mayPair)
{
    auto a = stepsUs(stepsA, isSteady), b = stepsUs(stepsB, isSteady);
    const bool steady = a.size() > 1 && b.size() > 1;
    bool (*const counts)(const Step&) = steady ? [](const Step& step) { return isSteady(step); } : isWhole;
    if (!steady) {
        a = stepsUs(stepsA, isWhole);
        b = stepsUs(stepsB, isWhole);
    }
    const StepPairs pairs = mayPair ? pairedSteps(stepsA, stepsB, counts) : StepPairs{};
    using Kind = Difference::Statistic::Kind;
    if (pairs.size() > 1 && 2 * pairs.size() >= std::max(a.size(), b.size())) {
        const StepRatio ratio = pairedRatio(pairs);
        return {Kind::PairedRatio, steady, {ratio.a, ratio.b}, ratio.ci95, pairs.size(), pairs.size()};
    }
    const StepRatio ratio = ratioOfMedians(a, b);
    return {Kind::MedianRatio, steady, {ratio.a, ratio.b}, ratio.ci95, a.size(), b.size()};
}

/// A note if the mean of all steps, which the tables show, contradicts the statistic.
void noteTheMeans(Difference& found)
{
    const double means = found.meanStepUs->ratio(), stated = found.statistic->stepUs.ratio();
    if (means <= 0 || stated <= 0 || std::abs(std::log(means / stated)) <= kMeanAndMedianAgree)
        return;
    found.notes.push_back(message<"diff.note.means_differ",
                                  "The ratio of the means of all steps is {ratio}: a few long steps affect a mean.">(
        {{"ratio", means, ratioText(means)}}));
}

/// Kernels and kernel classes per step, or of the whole trace if it has no steps. Kernels after the last step mark
/// count as well, because the host may run far ahead.
void compareKernels(Difference& found, std::vector<KernelTotal> a, std::vector<KernelTotal> b,
                    const ActivityScan& scanA, const ActivityScan& scanB)
{
    if (!found.perStep || a.empty() || b.empty()) {
        a = scanA.kernels;
        b = scanB.kernels;
    }
    const double countA = found.perStep ? static_cast<double>(found.stepsUsA.size()) : 1;
    const double countB = found.perStep ? static_cast<double>(found.stepsUsB.size()) : 1;
    found.kernels = kernelChanges(a, b, countA, countB);
    found.classes = classChanges(a, b, countA, countB);
    if (found.perStep)
        found.kernelStepUs = {timeOf(a) / countA, timeOf(b) / countB};
}

} // namespace

Difference difference(const Trace& a, const Trace& b, const std::vector<Step>& stepsA, const std::vector<Step>& stepsB)
{
    const ActivityScan scanA = scanActivity(a), scanB = scanActivity(b);
    const std::vector<double> usA = stepsUs(stepsA, isWhole), usB = stepsUs(stepsB, isWhole);
    Difference found;
    found.stepsUsA = usA;
    found.stepsUsB = usB;
    BatchByShapes batch = unknownBatch(a, b);
    found.whyNot = whyNotComparable(a, b, scanA, scanB, batch);
    if (!batch.certain && !batch.difference.empty())
        found.notes.push_back(std::move(batch.difference));
    if (stepsA.empty() != stepsB.empty())
        found.whyNot.push_back(message<"diff.not_comparable.steps", "Only one of the traces has steps.">());
    found.perStep = !usA.empty() && !usB.empty();
    if (found.perStep) {
        found.meanStepUs = {mean(usA), mean(usB)};
        found.medianStepUs = {percentile(usA, 0.5), percentile(usB, 0.5)};
        found.ci95 = ratioOfMeans(usA, usB).ci95;
        found.steadyCi95 = ratioOfMeans(stepsUs(stepsA, isSteady), stepsUs(stepsB, isSteady)).ci95;
        found.statistic = statisticOf(stepsA, stepsB, trainOnSameBatches(a, b));
        noteTheMeans(found);
        found.spreadA = spreadOf(usA);
        found.spreadB = spreadOf(usB);
        const StepStatistics statisticsA = stepStatistics(stepsA), statisticsB = stepStatistics(stepsB);
        found.phases = phaseChanges(statisticsA, statisticsB);
        found.ops = opChanges(opCosts(a, stepsA), opCosts(b, stepsB));
        if (statisticsA.steadyCount > 0 && statisticsB.steadyCount > 0)
            found.steadyStepUs = {statisticsA.steadyMeanUs, statisticsB.steadyMeanUs};
    }
    found.spanUs = {spanUs(scanA), spanUs(scanB)};
    found.kernelUs = {toUs(scanA.of(ActivityKind::Kernel).time), toUs(scanB.of(ActivityKind::Kernel).time)};
    compareKernels(found, kernelsOfSteps(a, stepsA), kernelsOfSteps(b, stepsB), scanA, scanB);
    found.breakdownA = breakdown(a, scanA, stepsA);
    found.breakdownB = breakdown(b, scanB, stepsB);
    found.verdict = verdictOf(found);
    return found;
}

std::vector<Message> differentSettings(const Trace& a, const Trace& b)
{
    constexpr Setting kSettings[] = {
        {"workload", "models"}, {"batch.size", "batch sizes"}, {"device", "devices"}, {"host.cpu", "processors"}};
    std::vector<Message> different;
    addDifferent(different, kSettings, a, b);
    return different;
}

Message differentHardware(const std::multiset<std::string>& a, const std::multiset<std::string>& b)
{
    if (a.empty() || b.empty() || a == b)
        return {};
    return message<"diff.not_comparable.hardware", "The traces ran on different devices: {a} and {b}.">(
        {{"a", joined(a)}, {"b", joined(b)}});
}

std::string_view statisticName(Difference::Statistic::Kind kind)
{
    return kind == Difference::Statistic::Kind::PairedRatio ? "paired ratio" : "ratio of medians";
}

Message headline(const Difference& difference, std::string_view b, std::string_view a)
{
    if (difference.verdict == Difference::Verdict::NotComparable)
        return message<"diff.not_comparable", "{b} is not comparable with {a}">({{"b", b}, {"a", a}});
    if (!difference.statistic)
        return message<"diff.no_steps", "No complete steps: only the work is compared">();
    if (!difference.statistic->ci95)
        return message<"diff.too_few_steps", "Too few steps to compare {b} with {a}">({{"b", b}, {"a", a}});
    if (difference.verdict == Difference::Verdict::NotShown)
        return message<"diff.not_shown", "No difference shown between {b} and {a}">({{"b", b}, {"a", a}});
    const double ratio = difference.statistic->stepUs.ratio();
    if (difference.verdict == Difference::Verdict::Slower)
        return message<"diff.slower", "{b} is {share} slower than {a}">(
            {{"b", b}, {"a", a}, {"share", 1 - ratio, percentText(1 - ratio)}});
    if (ratio >= 1.995) // "2.00 ×"
        return message<"diff.times_as_fast", "{b} is {ratio} as fast as {a}">(
            {{"b", b}, {"a", a}, {"ratio", ratio, fmt::format("{:.2f} ×", ratio)}});
    return message<"diff.faster", "{b} is {share} faster than {a}">(
        {{"b", b}, {"a", a}, {"share", ratio - 1, percentText(ratio - 1)}});
}

Message basis(const Difference& difference)
{
    if (!difference.statistic || difference.verdict == Difference::Verdict::NotComparable)
        return {};
    const Difference::Statistic& statistic = *difference.statistic;
    const double ratio = statistic.stepUs.ratio();
    const MessageParameter shown{"ratio", ratio, ratioText(ratio)};
    const MessageParameter low{"low", statistic.ci95 ? statistic.ci95->first : 0,
                               ratioText(statistic.ci95 ? statistic.ci95->first : 0)};
    const MessageParameter high{"high", statistic.ci95 ? statistic.ci95->second : 0,
                                ratioText(statistic.ci95 ? statistic.ci95->second : 0)};
    const MessageParameter stepsA{"steps_a", statistic.stepsA}, stepsB{"steps_b", statistic.stepsB};
    const MessageParameter steps{"steps", statistic.steady ? "steady steps" : "steps"};
    if (!statistic.ci95)
        return message<"diff.basis.no_interval", "The ratio of step times is {ratio} over {steps_a} and {steps_b} "
                                                 "{steps}: too few for a confidence interval.">(
            {shown, stepsA, stepsB, steps});
    if (statistic.kind == Difference::Statistic::Kind::PairedRatio)
        return message<
            "diff.basis.paired",
            "Paired ratio of step times {ratio} (95 % interval {low}–{high}) over {steps_a} {steps} with the "
            "same batches in both runs.">({shown, low, high, stepsA, steps});
    return message<"diff.basis.medians",
                   "Ratio of median step times {ratio} (95 % interval {low}–{high}) over {steps_a} and {steps_b} "
                   "{steps}.">({shown, low, high, stepsA, stepsB, steps});
}

Difference::Verdict verdictOf(const Difference& found)
{
    if (!found.whyNot.empty())
        return Difference::Verdict::NotComparable;
    if (!found.statistic || !found.statistic->ci95)
        return Difference::Verdict::NotShown;
    const auto& [low, high] = *found.statistic->ci95;
    return low > kMinimumEffect        ? Difference::Verdict::Faster
           : high < 1 / kMinimumEffect ? Difference::Verdict::Slower
                                       : Difference::Verdict::NotShown;
}

} // namespace advisor
