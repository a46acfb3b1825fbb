#include "advisor/experiment/difference.h"

#include "advisor/experiment/batch_by_shapes.h"
#include "advisor/experiment/common_work.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/student_t.h"
#include "profiler/analysis/activity_scan.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/kernel_class.h"
#include "profiler/analysis/op_costs.h"
#include "profiler/analysis/percentile.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace advisor {

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::size_t kMostKernels = 30, kMostRows = 30;
// As many equal steps are no accident of a clock that ticks coarsely.
constexpr std::size_t kManySteps = 5;

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

/// Of the kernels that begin in the steps that are counted.
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

double timeOf(const std::vector<KernelTotal>& kernels)
{
    double us = 0;
    for (const KernelTotal& kernel : kernels)
        us += toUs(kernel.time);
    return us;
}

/// Variance of the mean of values over its square, and the values' degrees of freedom.
struct MeanError {
    double relative = 0, freedom = 0;
};
MeanError meanError(const std::vector<double>& values)
{
    const double average = mean(values), count = static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values)
        squares += (value - average) * (value - average);
    return {squares / (count - 1) / count / (average * average), count - 1};
}

/// Means of runs of neighbours, as many as still give an interval. Steps that follow each other resemble each other
/// (clocks, caches, other programs), so that single ones promise more than they know. Source: Law, Simulation Modeling
/// and Analysis, 9.5.3, batch means.
std::vector<double> batchMeans(const std::vector<double>& steps)
{
    constexpr std::size_t kBatches = 8;
    if (steps.size() < 2 * kBatches)
        return steps;
    const std::size_t size = steps.size() / kBatches;
    std::vector<double> means;
    for (std::size_t i = 0; i < kBatches; ++i) { // what does not fill a batch begins the last one
        const auto first = steps.begin() + static_cast<std::ptrdiff_t>(i * size);
        means.push_back(mean({first, i + 1 < kBatches ? first + static_cast<std::ptrdiff_t>(size) : steps.end()}));
    }
    return means;
}

std::optional<std::pair<double, double>> interval(const std::vector<double>& stepsA, const std::vector<double>& stepsB)
{
    const std::vector<double> a = batchMeans(stepsA), b = batchMeans(stepsB);
    if (a.size() < 2 || b.size() < 2 || mean(a) <= 0 || mean(b) <= 0)
        return std::nullopt;
    const MeanError ea = meanError(a), eb = meanError(b);
    const double variance = ea.relative + eb.relative, middle = std::log(mean(a) / mean(b));
    if (variance <= 0)
        return std::min(a.size(), b.size()) < kManySteps ? std::nullopt
                                                         : std::optional(std::pair(std::exp(middle), std::exp(middle)));
    const double freedom =
        variance * variance / (ea.relative * ea.relative / ea.freedom + eb.relative * eb.relative / eb.freedom);
    const double half = studentTQuantile(0.975, freedom) * std::sqrt(variance);
    return std::pair(std::exp(middle - half), std::exp(middle + half));
}

/// Of the devices that ran something, since a trace may name all of its machine; of all where those have no names.
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

std::string joined(const std::multiset<std::string>& names)
{
    std::string text;
    for (auto name = names.begin(); name != names.end(); name = names.upper_bound(*name)) {
        const std::size_t count = names.count(*name);
        text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} × ", count) : std::string()) + *name;
    }
    return text;
}

std::string known(const Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string() : entry->second;
}

/// Where a configuration does not tell it.
BatchByShapes unknownBatch(const Trace& a, const Trace& b)
{
    const bool told = !known(a, "batch.size").empty() && !known(b, "batch.size").empty();
    return told ? BatchByShapes{} : batchByShapes(a, b);
}

std::vector<std::string> whyNotComparable(const Trace& a, const Trace& b, const ActivityScan& scanA,
                                          const ActivityScan& scanB, const BatchByShapes& batch)
{
    std::vector<std::string> why;
    const auto gpusA = hardware(a, scanA), gpusB = hardware(b, scanB);
    if (!gpusA.empty() && !gpusB.empty() && gpusA != gpusB)
        why.push_back(fmt::format("They ran on different devices: {} and {}.", joined(gpusA), joined(gpusB)));
    if (scanA.devices.size() != scanB.devices.size())
        why.push_back(fmt::format("They used {} and {} devices.", scanA.devices.size(), scanB.devices.size()));
    struct Key {
        const char *key, *what;
    };
    for (const Key& key :
         {Key{"world_size", "world sizes"}, Key{"ranks", "numbers of ranks"}, Key{"workload", "models"},
          Key{"batch.size", "batch sizes"}, Key{"device", "devices"}, Key{"host.cpu", "processors"}}) {
        const std::string inA = known(a, key.key), inB = known(b, key.key);
        if (!inA.empty() && !inB.empty() && inA != inB)
            why.push_back(fmt::format("They have different {}: {} and {}.", key.what, inA, inB));
    }
    if (batch.certain && !batch.difference.empty())
        why.push_back(batch.difference);
    if (std::string different = differentWork(a, b, scanA, scanB); !different.empty())
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

std::vector<Difference::Row> sorted(std::map<std::string, Difference::Row> rows)
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

Difference::Verdict verdictOf(const Difference& found)
{
    if (!found.whyNot.empty())
        return Difference::Verdict::NotComparable;
    if (!found.judged || !found.judged->ci95)
        return Difference::Verdict::NotShown;
    const auto& [low, high] = *found.judged->ci95;
    return low > kWorth        ? Difference::Verdict::Faster
           : high < 1 / kWorth ? Difference::Verdict::Slower
                               : Difference::Verdict::NotShown;
}

Difference::Judged judgedSteps(const std::vector<Step>& stepsA, const std::vector<Step>& stepsB)
{
    auto a = stepsUs(stepsA, isSteady), b = stepsUs(stepsB, isSteady);
    const bool steady = a.size() > 1 && b.size() > 1;
    if (!steady) {
        a = stepsUs(stepsA, isWhole);
        b = stepsUs(stepsB, isWhole);
    }
    return {steady, {mean(a), mean(b)}, interval(a, b)};
}

/// Kernels, and kinds of them, of a step, or of all the trace where one has no steps. Kernels that lie beyond the marks
/// of all steps, as of a host that runs far ahead, are taken as the steps' as well.
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
        found.whyNot.emplace_back("Only one of them has steps that are marked.");
    found.perStep = !usA.empty() && !usB.empty();
    if (found.perStep) {
        found.meanStepUs = {mean(usA), mean(usB)};
        found.medianStepUs = {percentile(usA, 0.5), percentile(usB, 0.5)};
        found.ci95 = interval(usA, usB);
        found.judged = judgedSteps(stepsA, stepsB);
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

} // namespace advisor
