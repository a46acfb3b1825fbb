#include "app/document/comparison.h"

#include "app/document/step_parts.h"
#include "profiler/analysis/operators/op_costs.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

namespace app {

namespace analysis = profiler::analysis;
using profiler::ActivityKind;

namespace {

constexpr std::size_t kMostRows = 200;

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Comparison)
};

std::vector<double> durationsUs(const std::vector<analysis::Step>& steps, bool steadyOnly)
{
    std::vector<double> us;
    for (const analysis::Step& step : steps)
        if (steadyOnly ? isSteady(step) : !step.partial)
            us.push_back(static_cast<double>(step.range.duration().count()) / 1000);
    return us;
}

void addPhases(Comparison& to, const std::vector<analysis::Step>& a, const std::vector<analysis::Step>& b)
{
    const auto inA = analysis::stepStatistics(a), inB = analysis::stepStatistics(b);
    if (inA.steadyCount == 0 || inB.steadyCount == 0)
        return;
    for (const StepPart& part : kStepParts)
        to.moved.push_back({Texts::tr("phase"), stepPartName(part),
                            static_cast<double>((inA.steadyMeanParts.*part.time).count()) / 1000,
                            static_cast<double>((inB.steadyMeanParts.*part.time).count()) / 1000, part.which});
}

/// Self times; an operator that occurs in several phases counts as one.
void addOps(Comparison& to, const analysis::OpCosts& a, const analysis::OpCosts& b)
{
    if (a.stepsWithOps == 0 || b.stepsWithOps == 0)
        return;
    std::map<std::string, std::pair<double, double>> us;
    for (const analysis::OpCost& op : a.ops)
        us[op.name].first += op.selfUsPerStep;
    for (const analysis::OpCost& op : b.ops)
        us[op.name].second += op.selfUsPerStep;
    for (const auto& [name, both] : us)
        to.moved.push_back({Texts::tr("operator"), QString::fromStdString(name), both.first, both.second,
                            classify(ActivityKind::CpuOp, name)});
}

} // namespace

Comparison compareTraces(const profiler::Trace& a, const profiler::Trace& b, const std::vector<analysis::Step>& stepsA,
                         const std::vector<analysis::Step>& stepsB, const std::stop_token& stop)
{
    Comparison compared;
    compared.difference = advisor::difference(a, b, stepsA, stepsB);
    if (stop.stop_requested())
        return compared;
    const bool steadyOnly = !compared.difference.statistic || compared.difference.statistic->steady;
    compared.aStepsUs = durationsUs(stepsA, steadyOnly);
    compared.bStepsUs = durationsUs(stepsB, steadyOnly);
    addPhases(compared, stepsA, stepsB);
    const analysis::OpCosts opsA = analysis::opCosts(a, stepsA);
    if (stop.stop_requested())
        return compared;
    addOps(compared, opsA, analysis::opCosts(b, stepsB));
    for (const advisor::Difference::Kernel& kernel : compared.difference.kernels)
        compared.moved.push_back({Texts::tr("kernel"), QString::fromStdString(kernel.name), kernel.aUs, kernel.bUs,
                                  classify(ActivityKind::Kernel, kernel.name)});
    std::erase_if(compared.moved, [](const auto& row) { return row.aUs == 0 && row.bUs == 0; });
    std::stable_sort(compared.moved.begin(), compared.moved.end(),
                     [](const auto& x, const auto& y) { return std::abs(x.aUs - x.bUs) > std::abs(y.aUs - y.bUs); });
    compared.moved.resize(std::min(compared.moved.size(), kMostRows));
    return compared;
}

} // namespace app
