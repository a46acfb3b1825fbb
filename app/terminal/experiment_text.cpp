#include "app/terminal/experiment_text.h"

#include "advisor/experiment/held_prediction.h"
#include "advisor/experiment/result_text.h"
#include "advisor/numbers.h"

#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

void printLosses(const LossAtEqualTime& losses, std::ostream& out)
{
    if (!losses.saved.isKnown())
        return;
    out << fmt::format("screening at equal time: {} loss {:.4g} against {:.4g} after {:.3g} s: lower by {:.3g} (95 % "
                       "interval {:.3g} to {:.3g}, {} seeds)\n",
                       losses.validation ? "validation" : "training", losses.b, losses.a, losses.seconds,
                       losses.saved.value, losses.saved.low, losses.saved.high, losses.seeds.size());
}

void printSaved(const ExperimentResult& result, std::ostream& out)
{
    const bool memory = result.plan.objective == Objective::Memory;
    if (!(memory ? result.savedBytes : result.savedUs).isKnown())
        return;
    const Interval& saved = memory ? result.savedBytes : result.savedUs;
    const std::string whole = memory ? bytesText(result.peakBytesA) + " peak tensor memory" : timeText(result.unitUsA);
    if (saved.value >= 0) {
        out << fmt::format("saves {} of {}", measuredText(result), whole);
    } else {
        ExperimentResult added = result;
        added.savedBytes = added.savedUs = {-saved.value, -saved.high, -saved.low};
        out << fmt::format("adds {} to {}", measuredText(added), whole);
    }
    if (const auto predicted = predictedHere(result))
        out << "; predicted: " << predictedText(predicted);
    out << '\n';
}

void printNoise(const NoiseReport& noise, std::ostream& out)
{
    out << fmt::format("other programs used {:.2f} of {:.0f} cores during the turns", noise.turns.otherCores,
                       noise.cores);
    if (!noise.turns.others.empty() && noise.turns.others.front().cores >= kDisturbedShare)
        out << fmt::format(" ({} {:.2f})", noise.turns.others.front().name, noise.turns.others.front().cores);
    out << '\n';
}

} // namespace

void printProgress(const ExperimentProgress& progress, std::ostream& err)
{
    err << progress.doing;
    if (const auto& saved = progress.savedLoss)
        err << fmt::format(" · loss lower by {:.3g} ({:.3g} to {:.3g})", saved->value, saved->low, saved->high);
    else if (progress.ratio)
        err << fmt::format(" · {:.3f} × ({:.3f} to {:.3f})", progress.ratio->value, progress.ratio->low,
                           progress.ratio->high);
    err << fmt::format(" · {:.0f} s spent, at most {:.0f} s left", progress.secondsSpent, progress.secondsLeft)
        << std::endl;
}

void printResult(const ExperimentResult& result, std::ostream& out)
{
    for (const Toggle& change : result.plan.changes)
        out << (change.from.empty() ? fmt::format("{}: {}\n", change.key, change.to)
                                    : fmt::format("{}: {} against {}\n", change.key, change.to, change.from));
    const Interval& ratio = result.samplesPerSecond;
    out << fmt::format("{}: {}\n", verdictName(result.verdict), result.whyText());
    if (ratio.isKnown())
        out << fmt::format("{:.0f} against {:.0f} samples/s: {:.3f} × (95 % interval {:.3f} to {:.3f}, {} pairs)\n",
                           result.samplesPerSecondB, result.samplesPerSecondA, ratio.value, ratio.low, ratio.high,
                           result.pairs.size());
    if (result.lossAtEqualTime)
        printLosses(*result.lossAtEqualTime, out);
    if (!isScreening(result.plan))
        printSaved(result, out);
    if (result.noise.cores > 0 && result.noise.turns.seconds > 0)
        printNoise(result.noise, out);
}

} // namespace app::terminal
