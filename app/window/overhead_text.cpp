#include "app/window/overhead_text.h"

#include "app/document/recording_cost_text.h"
#include "app/document/trace_document.h"
#include "app/services/level_cost_measurer.h"
#include "app/services/level_costs.h"
#include "profiler/model/trace.h"

#include <QCoreApplication>
#include <QLocale>

namespace app {

namespace {

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
