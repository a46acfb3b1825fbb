#include "app/document/recording_cost_text.h"

#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/level_costs.h"
#include "profiler/model/trace.h"

#include <QCoreApplication>
#include <QLocale>
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

struct LevelTexts {
    Q_DECLARE_TR_FUNCTIONS(LevelCost)
};

QString lineOf(const config::TrainingConfig& configuration, const std::string& level)
{
    const QString name = QString::fromStdString(level);
    const auto known = levelCost(configuration, level);
    if (!known)
        return LevelTexts::tr("%1: not measured yet").arg(name);
    const RecordingCostContext context{name, recordedShare(configuration), known->otherLoad};
    return LevelTexts::tr("%1 Measured here on %2.")
        .arg(recordingCostSentence(known->cost, context),
             QLocale(QLocale::English).toString(known->when.date(), QStringLiteral("d MMM yyyy")));
}

struct OverheadTexts {
    Q_DECLARE_TR_FUNCTIONS(Overhead)
};

/// The recording level of the trace on screen; empty: unknown.
QString levelOf(const TraceDocument& document)
{
    if (const auto& configuration = document.configuration())
        return QString::fromStdString((*configuration)[config::key::captureLevel]);
    const auto& metadata = document.trace()->metadata();
    const auto found = metadata.find("capture.level");
    return found == metadata.end() ? QString() : QString::fromStdString(found->second);
}

/// Alternatives: "Level standard adds 0.8 % to a step with operators. Level always records no operators …"
QString alternatives(const TraceDocument& document, const QString& level)
{
    QStringList lines;
    const auto& configuration = document.configuration();
    if (level == "full") {
        const auto standard = configuration ? levelCost(*configuration, "standard") : std::nullopt;
        lines << (standard ? recordingCostFigure(standard->cost,
                                                 {"standard", recordedShare(*configuration), standard->otherLoad}) +
                                 '.'
                           : OverheadTexts::tr("Level standard records less. Its overhead has not been measured here "
                                               "yet (Configuration, Recording, Measure here)."));
    }
    lines << OverheadTexts::tr("Level always records no operators and does not have this overhead.");
    return lines.join('\n');
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

QString levelCostText(const config::TrainingConfig& configuration)
{
    QStringList lines{LevelTexts::tr("Overhead of recording operators with %1:")
                          .arg(QString::fromStdString(configuration[config::key::workload])),
                      LevelTexts::tr("always: records no operators and does not have this overhead")};
    for (const std::string& level : LevelCostMeasurer::levels())
        lines << lineOf(configuration, level);
    return lines.join('\n');
}

OverheadText overheadText(const TraceDocument& document)
{
    const QString level = levelOf(document);
    if (const auto analysed = document.analysed())
        if (const auto cost = profiler::analysis::recordingCost(analysed->facts.steps)) {
            const RecordingCostContext context{level, cost->recordedShare(), {}};
            return {recordingCostFigure(*cost, context),
                    OverheadTexts::tr("%1 Measured in this run.").arg(recordingCostSentence(*cost, context)) + '\n' +
                        alternatives(document, level)};
        }
    // The first steps of a run are not enough to measure it; an earlier run may have measured it.
    const auto& configuration = document.configuration();
    const bool records = configuration && (*configuration)[config::key::captureEnabled] && document.isFollowingRun();
    if (const auto known = records ? levelCost(*configuration) : std::nullopt) {
        const RecordingCostContext context{level, recordedShare(*configuration), known->otherLoad};
        const QString when = QLocale(QLocale::English).toString(known->when.date(), QStringLiteral("d MMM yyyy"));
        return {OverheadTexts::tr("%1, measured on %2").arg(recordingCostFigure(known->cost, context), when),
                OverheadTexts::tr("%1 Measured on this machine on %2, not in this run.")
                        .arg(recordingCostSentence(known->cost, context), when) +
                    '\n' + alternatives(document, level)};
    }
    return {};
}

} // namespace app
