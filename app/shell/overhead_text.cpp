#include "app/shell/overhead_text.h"

#include "app/look/number_format.h"
#include "app/session/level_costs.h"
#include "app/session/session.h"

#include <QCoreApplication>
#include <QLocale>

namespace app {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Overhead)
};

using Cost = profiler::analysis::RecordingCost;

QString figure(const Cost& cost)
{
    if (cost.low > 1)
        return Words::tr("%1 overhead with operators").arg(formatShare(cost.ratio - 1));
    return cost.high > 1 ? Words::tr("at most %1 overhead with operators").arg(formatShare(cost.high - 1))
                         : Words::tr("no overhead with operators seen");
}

QString sentence(const Cost& cost)
{
    return Words::tr("Steps that record operators against those that do not: %1 × as long (95 %: %2 to %3, %4 steps "
                     "against %5)")
        .arg(formatSignificant(cost.ratio), formatSignificant(cost.low), formatSignificant(cost.high),
             formatCount(cost.with), formatCount(cost.without));
}

} // namespace

OverheadText overheadText(const Session& session)
{
    if (const auto analysed = session.analysed())
        if (const auto cost = profiler::analysis::recordingCost(analysed->facts.steps))
            return {figure(*cost), Words::tr("%1, in this run.").arg(sentence(*cost))};
    // A run has not told it from its first steps on; one before may have.
    const auto& configuration = session.traceConfiguration();
    const bool records = configuration && (*configuration)[config::key::captureEnabled] && session.isRunOpen();
    if (const auto known = records ? levelCost(*configuration) : std::nullopt)
        return {figure(known->cost),
                Words::tr("%1, measured here on %2.")
                    .arg(sentence(known->cost),
                         QLocale(QLocale::English).toString(known->when.date(), QStringLiteral("d MMM yyyy")))};
    return {};
}

} // namespace app
