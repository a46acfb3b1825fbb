#include "app/session/experiment_result_json.h"

#include "app/session/json_number.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace app {

namespace {

using advisor::ExperimentPlan;
using advisor::ExperimentResult;
using advisor::Interval;

QString asQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QJsonArray intervalJson(const Interval& interval)
{
    return {jsonNumber(interval.value), jsonNumber(interval.low), jsonNumber(interval.high)};
}
Interval intervalFrom(const QJsonValue& json)
{
    const QJsonArray array = json.toArray();
    return {numberFrom(array.at(0)), numberFrom(array.at(1)), numberFrom(array.at(2))};
}

QJsonObject planJson(const ExperimentPlan& plan)
{
    QJsonArray changes;
    for (const advisor::Toggle& toggle : plan.changes)
        changes << toJson(toggle);
    QJsonObject json{
        {"baseline", QJsonDocument::fromJson(QByteArray::fromStdString(plan.baseline.toJson(false))).object()},
        {"changes", changes},
        {"judged_by", static_cast<int>(plan.judgedBy)},
        {"measure", asQString(plan.measure)}};
    if (plan.predicted)
        json["predicted"] = QJsonObject{{"unit", static_cast<int>(plan.predicted->unit)},
                                        {"low", jsonNumber(plan.predicted->low)},
                                        {"mid", jsonNumber(plan.predicted->mid)},
                                        {"high", jsonNumber(plan.predicted->high)},
                                        {"of_us", jsonNumber(plan.predicted->ofUs)}};
    return json;
}

std::optional<ExperimentPlan> planFrom(const QJsonObject& json)
{
    ExperimentPlan plan;
    const QByteArray baseline = QJsonDocument(json["baseline"].toObject()).toJson();
    auto configuration =
        config::TrainingConfig::fromJson(std::string_view(baseline.data(), static_cast<std::size_t>(baseline.size())));
    if (!configuration)
        return std::nullopt;
    plan.baseline = std::move(*configuration);
    for (const QJsonValue change : json["changes"].toArray())
        plan.changes.push_back(toggleFromJson(change.toObject()));
    plan.judgedBy = static_cast<advisor::JudgedBy>(json["judged_by"].toInt());
    plan.measure = json["measure"].toString().toStdString();
    if (json.contains("predicted")) {
        const QJsonObject saving = json["predicted"].toObject();
        plan.predicted =
            advisor::Saving{static_cast<advisor::SavingUnit>(saving["unit"].toInt()), numberFrom(saving["low"]),
                            numberFrom(saving["mid"]), numberFrom(saving["high"]),
                            saving.contains("of_us") ? numberFrom(saving["of_us"]) : 0};
    }
    return plan;
}

QJsonArray pairsJson(const std::vector<advisor::Pair>& pairs)
{
    QJsonArray json;
    for (const advisor::Pair& pair : pairs)
        json << QJsonArray{jsonNumber(pair.a), jsonNumber(pair.b), jsonNumber(pair.logRatio)};
    return json;
}
std::vector<advisor::Pair> pairsFrom(const QJsonValue& json)
{
    std::vector<advisor::Pair> pairs;
    for (const QJsonValue pair : json.toArray())
        pairs.push_back({numberFrom(pair[0]), numberFrom(pair[1]), numberFrom(pair[2])});
    return pairs;
}

QJsonObject lossesJson(const advisor::LossAtEqualTime& losses)
{
    return {{"validation", losses.validation},
            {"seconds", losses.seconds},
            {"seeds", pairsJson(losses.seeds)},
            {"mean", QJsonArray{jsonNumber(losses.a), jsonNumber(losses.b)}},
            {"ratio", intervalJson(losses.ratio)},
            {"saved", intervalJson(losses.saved)},
            {"diverged", QJsonArray{static_cast<qint64>(losses.diverged[0]), static_cast<qint64>(losses.diverged[1])}}};
}
advisor::LossAtEqualTime lossesFrom(const QJsonObject& json)
{
    advisor::LossAtEqualTime losses;
    losses.validation = json["validation"].toBool();
    losses.seconds = json["seconds"].toDouble();
    losses.seeds = pairsFrom(json["seeds"]);
    losses.a = numberFrom(json["mean"][0]);
    losses.b = numberFrom(json["mean"][1]);
    losses.ratio = intervalFrom(json["ratio"]);
    losses.saved = intervalFrom(json["saved"]);
    for (qsizetype arm = 0; arm < 2; ++arm)
        losses.diverged[static_cast<std::size_t>(arm)] = static_cast<std::size_t>(json["diverged"][arm].toInteger());
    return losses;
}

} // namespace

QJsonObject toJson(const advisor::Toggle& toggle)
{
    return {{"key", asQString(toggle.key)}, {"from", asQString(toggle.from)}, {"to", asQString(toggle.to)}};
}

advisor::Toggle toggleFromJson(const QJsonObject& json)
{
    return {json["key"].toString().toStdString(), json["from"].toString().toStdString(),
            json["to"].toString().toStdString()};
}

QJsonObject toJson(const ExperimentResult& result)
{
    QJsonObject json{
        {"plan", planJson(result.plan)},
        {"pairs", pairsJson(result.pairs)},
        {"samples_per_second", QJsonObject{{"ratio", intervalJson(result.samplesPerSecond)},
                                           {"a", result.samplesPerSecondA},
                                           {"b", result.samplesPerSecondB}}},
        {"unit_us", QJsonArray{result.unitUsA, result.unitUsB}},
        {"saved_us", intervalJson(result.savedUs)},
        {"loss", QJsonArray{jsonNumber(result.lossA), jsonNumber(result.lossB)}},
        {"loss_parity", result.lossParity},
        {"loss_tolerance", jsonNumber(result.lossTolerance)},
        {"peak_bytes", QJsonArray{static_cast<qint64>(result.peakBytesA), static_cast<qint64>(result.peakBytesB)}},
        {"saved_bytes", intervalJson(result.savedBytes)},
        {"verdict", static_cast<int>(result.verdict)},
        {"why", asQString(result.why)},
        {"seconds_spent", result.secondsSpent}};
    if (result.lossAtEqualTime)
        json["loss_at_equal_time"] = lossesJson(*result.lossAtEqualTime);
    return json;
}

std::optional<ExperimentResult> resultFromJson(const QJsonObject& json)
{
    auto plan = planFrom(json["plan"].toObject());
    if (!plan)
        return std::nullopt;
    ExperimentResult result;
    result.plan = std::move(*plan);
    result.pairs = pairsFrom(json["pairs"]);
    const QJsonObject rate = json["samples_per_second"].toObject();
    result.samplesPerSecond = intervalFrom(rate["ratio"]);
    result.samplesPerSecondA = rate["a"].toDouble();
    result.samplesPerSecondB = rate["b"].toDouble();
    result.unitUsA = json["unit_us"][0].toDouble();
    result.unitUsB = json["unit_us"][1].toDouble();
    result.savedUs = intervalFrom(json["saved_us"]);
    result.lossA = numberFrom(json["loss"][0]);
    result.lossB = numberFrom(json["loss"][1]);
    result.lossParity = json["loss_parity"].toBool();
    result.lossTolerance = numberFrom(json["loss_tolerance"]);
    result.peakBytesA = json["peak_bytes"][0].toInteger();
    result.peakBytesB = json["peak_bytes"][1].toInteger();
    result.savedBytes = intervalFrom(json["saved_bytes"]);
    if (json.contains("loss_at_equal_time"))
        result.lossAtEqualTime = lossesFrom(json["loss_at_equal_time"].toObject());
    result.verdict = static_cast<advisor::Verdict>(json["verdict"].toInt());
    result.why = json["why"].toString().toStdString();
    result.secondsSpent = json["seconds_spent"].toDouble();
    return result;
}

} // namespace app
