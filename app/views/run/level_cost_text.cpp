#include "app/views/run/level_cost_text.h"

#include "app/look/number_format.h"
#include "app/session/level_cost_measurer.h"
#include "app/session/level_costs.h"

#include <QCoreApplication>
#include <QLocale>

namespace app {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(LevelCost)
};

QString lineOf(const config::TrainingConfig& configuration, const std::string& level)
{
    const QString name = QString::fromStdString(level);
    const auto known = levelCost(configuration, level);
    if (!known)
        return Words::tr("%1: not measured yet").arg(name);
    const profiler::analysis::RecordingCost& cost = known->cost;
    return Words::tr("%1: %2 × as long (95 %: %3 to %4), measured here on %5, %6 steps against %7")
        .arg(name, formatSignificant(cost.ratio), formatSignificant(cost.low), formatSignificant(cost.high),
             QLocale(QLocale::English).toString(known->when.date(), QStringLiteral("d MMM yyyy")),
             formatCount(cost.with), formatCount(cost.without));
}

} // namespace

QString levelCostText(const config::TrainingConfig& configuration)
{
    QStringList lines{Words::tr("Steps with operators against steps without, %1:")
                          .arg(QString::fromStdString(configuration[config::key::workload])),
                      Words::tr("always: records no operators")};
    for (const std::string& level : LevelCostMeasurer::levels())
        lines << lineOf(configuration, level);
    return lines.join('\n');
}

} // namespace app
