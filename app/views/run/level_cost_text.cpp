#include "app/views/run/level_cost_text.h"

#include "app/document/recording_cost_text.h"
#include "app/services/level_cost_measurer.h"
#include "app/services/level_costs.h"

#include <QCoreApplication>
#include <QLocale>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(LevelCost)
};

QString lineOf(const config::TrainingConfig& configuration, const std::string& level)
{
    const QString name = QString::fromStdString(level);
    const auto known = levelCost(configuration, level);
    if (!known)
        return Texts::tr("%1: not measured yet").arg(name);
    const RecordingCostContext context{name, recordedShare(configuration), known->otherLoad};
    return Texts::tr("%1 Measured here on %2.")
        .arg(recordingCostSentence(known->cost, context),
             QLocale(QLocale::English).toString(known->when.date(), QStringLiteral("d MMM yyyy")));
}

} // namespace

QString levelCostText(const config::TrainingConfig& configuration)
{
    QStringList lines{Texts::tr("Overhead of recording operators with %1:")
                          .arg(QString::fromStdString(configuration[config::key::workload])),
                      Texts::tr("always: records no operators and does not have this overhead")};
    for (const std::string& level : LevelCostMeasurer::levels())
        lines << lineOf(configuration, level);
    return lines.join('\n');
}

} // namespace app
