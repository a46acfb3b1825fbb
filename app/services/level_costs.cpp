#include "app/services/level_costs.h"

#include <QSettings>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

// time, ratio, low, high, steps with, steps without; from the second version also the spread and the load of other
// processes, which is empty if unknown
constexpr int kFields = 8, kFieldsOfFirstVersion = 6;

QString settingsKey(const config::TrainingConfig& configuration, const std::string& level)
{
    return QStringLiteral("level_costs/%1/%2/%3")
        .arg(QString::fromStdString(configuration[config::key::workload]),
             QString::fromStdString(configuration[config::key::device]), QString::fromStdString(level));
}

} // namespace

std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration)
{
    return levelCost(configuration, configuration[config::key::captureLevel]);
}

std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration, const std::string& level)
{
    const QStringList kept = QSettings().value(settingsKey(configuration, level)).toStringList();
    if (kept.size() != kFields && kept.size() != kFieldsOfFirstVersion)
        return std::nullopt;
    LevelCost known{
        {kept[1].toDouble(), kept[2].toDouble(), kept[3].toDouble(), kept[4].toLongLong(), kept[5].toLongLong()},
        QDateTime::fromString(kept[0], Qt::ISODate),
        std::nullopt};
    if (kept.size() == kFields) {
        known.cost.spread = kept[6].toDouble();
        if (!kept[7].isEmpty())
            known.otherLoad = kept[7].toDouble();
    }
    const auto& cost = known.cost;
    // The settings file of the user may contain anything.
    const bool sound = known.when.isValid() && std::isfinite(cost.ratio) && cost.low > 0 && cost.low <= cost.ratio &&
                       cost.ratio <= cost.high && std::isfinite(cost.high);
    return sound ? std::optional(known) : std::nullopt;
}

double recordedShare(const config::TrainingConfig& configuration)
{
    const auto every = configuration[config::key::captureOpsEvery],
               window = configuration[config::key::captureOpsWindow];
    return every <= 0 ? 0 : std::min(1.0, static_cast<double>(window) / static_cast<double>(every));
}

void keepLevelCost(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad)
{
    constexpr int kDigits = 6;
    const auto text = [](double value) { return QString::number(value, 'g', kDigits); };
    QSettings().setValue(settingsKey(configuration, configuration[config::key::captureLevel]),
                         QStringList{QDateTime::currentDateTime().toString(Qt::ISODate), text(cost.ratio),
                                     text(cost.low), text(cost.high), QString::number(cost.with),
                                     QString::number(cost.without), text(cost.spread),
                                     otherLoad ? text(*otherLoad) : QString()});
}

} // namespace app
