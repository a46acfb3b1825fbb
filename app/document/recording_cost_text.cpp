#include "app/document/recording_cost_text.h"

#include "app/look/number_format.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

namespace app {

namespace {

using profiler::analysis::RecordingCost;

struct RecordingTexts {
    Q_DECLARE_TR_FUNCTIONS(RecordingCost)
};

QString subject(const QString& level)
{
    return level.isEmpty() ? RecordingTexts::tr("Recording operators")
                           : RecordingTexts::tr("Recording at level %1").arg(level);
}

/// "3.1 % to a step with operators and 0.3 % to the run"
QString added(double stepShare, double recordedShare)
{
    const QString step = formatShare(stepShare);
    return recordedShare < 1 ? RecordingTexts::tr("%1 to a step with operators and %2 to the run")
                                   .arg(step, formatShare(stepShare * recordedShare))
                             : RecordingTexts::tr("%1 to a step").arg(step);
}

QString addedText(const RecordingCost& cost, const RecordingCostContext& context)
{
    if (cost.low > 1)
        return RecordingTexts::tr("%1 adds %2")
            .arg(subject(context.level), added(cost.ratio - 1, context.recordedShare));
    return cost.high > 1 ? RecordingTexts::tr("%1 adds at most %2")
                               .arg(subject(context.level), added(cost.high - 1, context.recordedShare))
                         : RecordingTexts::tr("%1 has no measurable cost").arg(subject(context.level));
}

} // namespace

QString recordingCostFigure(const RecordingCost& cost, const RecordingCostContext& context)
{
    const QString text = addedText(cost, context);
    return isNoisy(cost, context.otherLoad) ? RecordingTexts::tr("%1 (noisy)").arg(text) : text;
}

QString recordingCostSentence(const RecordingCost& cost, const RecordingCostContext& context)
{
    QString text =
        RecordingTexts::tr("%1. Steps with operators take %2 × as long as steps without (95 % interval %3–%4; "
                           "%5 steps against %6).")
            .arg(addedText(cost, context), formatSignificant(cost.ratio), formatSignificant(cost.low),
                 formatSignificant(cost.high), formatCount(cost.with), formatCount(cost.without));
    if (!isNoisy(cost, context.otherLoad))
        return text;
    QStringList sources;
    if (cost.spread > 0)
        sources << RecordingTexts::tr("steps vary by %1").arg(formatShare(cost.spread));
    if (context.otherLoad)
        sources << RecordingTexts::tr("other processes used %1 of the CPU").arg(formatShare(*context.otherLoad));
    return text + ' ' +
           (sources.isEmpty() ? RecordingTexts::tr("The figure is noisy.")
                              : RecordingTexts::tr("The figure is noisy: %1.").arg(sources.join(", ")));
}

} // namespace app
