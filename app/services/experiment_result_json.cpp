#include "app/services/experiment_result_json.h"

#include "app/look/display_text.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace app {

namespace {

using advisor::ExperimentPlan;
using advisor::ExperimentResult;
using advisor::Interval;

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
        {"judged_by", static_cast<int>(plan.objective)},
        {"measure", asQString(plan.measure)}};
    if (plan.predicted)
        json["predicted"] =
            QJsonObject{{"unit", static_cast<int>(plan.predicted->unit)},
                        {"low", jsonNumber(plan.predicted->low)},
                        {"mid", jsonNumber(plan.predicted->mid)},
                        {"high", jsonNumber(plan.predicted->high)},
                        {"of_us", jsonNumber(plan.predicted->ofUs)},
                        {"kind", plan.predicted->kind == advisor::SavingKind::UpperBound ? "upper bound" : "estimate"}};
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
    plan.objective = static_cast<advisor::Objective>(json["judged_by"].toInt());
    plan.measure = json["measure"].toString().toStdString();
    if (json.contains("predicted")) {
        const QJsonObject saving = json["predicted"].toObject();
        plan.predicted = advisor::Saving{static_cast<advisor::SavingUnit>(saving["unit"].toInt()),
                                         numberFrom(saving["low"]),
                                         numberFrom(saving["mid"]),
                                         numberFrom(saving["high"]),
                                         saving.contains("of_us") ? numberFrom(saving["of_us"]) : 0,
                                         saving["kind"].toString() == "upper bound" ? advisor::SavingKind::UpperBound
                                                                                    : advisor::SavingKind::Estimate};
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

/// By seed and arm: triples of seconds, samples and loss.
QJsonArray historyJson(const std::vector<advisor::LossesOfSeed>& seeds)
{
    QJsonArray json;
    for (const advisor::LossesOfSeed& seed : seeds) {
        QJsonArray arms;
        for (const auto& points : seed) {
            QJsonArray values;
            for (const advisor::LossPoint& point : points)
                values << jsonNumber(point.seconds) << jsonNumber(point.samples) << jsonNumber(point.loss);
            arms << values;
        }
        json << arms;
    }
    return json;
}
std::vector<advisor::LossesOfSeed> historyFrom(const QJsonValue& json)
{
    std::vector<advisor::LossesOfSeed> seeds;
    for (const QJsonValue seed : json.toArray()) {
        auto& arms = seeds.emplace_back();
        for (qsizetype arm = 0; arm < 2; ++arm) {
            const QJsonArray values = seed[arm].toArray();
            for (qsizetype i = 0; i + 2 < values.size(); i += 3)
                arms[static_cast<std::size_t>(arm)].push_back(
                    {numberFrom(values[i]), numberFrom(values[i + 1]), numberFrom(values[i + 2])});
        }
    }
    return seeds;
}

QJsonObject lossCheckJson(const advisor::LossCheck& loss)
{
    return {{"kind", static_cast<int>(loss.kind)},
            {"at", static_cast<int>(loss.at)},
            {"mean", QJsonArray{jsonNumber(loss.a), jsonNumber(loss.b)}},
            {"margin", loss.margin},
            {"highest", jsonNumber(loss.highest)},
            {"steps", static_cast<qint64>(loss.steps)},
            {"seeds", static_cast<qint64>(loss.seeds)}};
}
advisor::LossCheck lossCheckFrom(const QJsonObject& json)
{
    advisor::LossCheck loss;
    loss.kind = static_cast<advisor::LossKind>(json["kind"].toInt());
    loss.at = static_cast<advisor::LossCheck::At>(json["at"].toInt());
    loss.a = numberFrom(json["mean"][0]);
    loss.b = numberFrom(json["mean"][1]);
    loss.margin = json["margin"].toDouble();
    loss.highest = numberFrom(json["highest"]);
    loss.steps = static_cast<std::size_t>(json["steps"].toInteger());
    loss.seeds = static_cast<std::size_t>(json["seeds"].toInteger());
    return loss;
}

QJsonObject messageJson(const profiler::Message& message)
{
    QJsonArray parameters;
    for (const profiler::MessageParameter& parameter : message.parameters) {
        QJsonObject json{{"name", asQString(parameter.name)}, {"text", asQString(parameter.text)}};
        if (const auto* number = std::get_if<double>(&parameter.value))
            json["number"] = jsonNumber(*number);
        else if (const auto* count = std::get_if<std::int64_t>(&parameter.value))
            json["count"] = static_cast<qint64>(*count);
        parameters << json;
    }
    return {{"id", asQString(message.id)}, {"text", asQString(message.text)}, {"parameters", parameters}};
}
profiler::Message messageFrom(const QJsonValue& json)
{
    profiler::Message message;
    if (json.isString()) { // format of earlier versions
        message.text = json.toString().toStdString();
        return message;
    }
    message.id = json["id"].toString().toStdString();
    message.text = json["text"].toString().toStdString();
    for (const QJsonValue parameter : json["parameters"].toArray()) {
        const std::string name = parameter["name"].toString().toStdString();
        const std::string text = parameter["text"].toString().toStdString();
        const QJsonObject object = parameter.toObject();
        if (object.contains("number"))
            message.parameters.emplace_back(name, numberFrom(object["number"]), text);
        else if (object.contains("count"))
            message.parameters.emplace_back(name, static_cast<std::int64_t>(object["count"].toInteger()), text);
        else
            message.parameters.emplace_back(name, text);
    }
    return message;
}
QJsonArray messagesJson(const std::vector<profiler::Message>& messages)
{
    QJsonArray json;
    for (const profiler::Message& message : messages)
        json << messageJson(message);
    return json;
}

QJsonObject noiseJson(const advisor::NoiseReport& noise)
{
    return {{"repeated", static_cast<qint64>(noise.repeatedPairs)},
            {"disturbed", static_cast<qint64>(noise.disturbedPairs)},
            {"cores", noise.cores},
            {"other_cores", noise.turns.otherCores}};
}
advisor::NoiseReport noiseFrom(const QJsonObject& json)
{
    advisor::NoiseReport noise;
    noise.repeatedPairs = static_cast<std::size_t>(json["repeated"].toInteger());
    noise.disturbedPairs = static_cast<std::size_t>(json["disturbed"].toInteger());
    noise.cores = json["cores"].toDouble();
    noise.turns.otherCores = json["other_cores"].toDouble();
    return noise;
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

QJsonObject toJson(const advisor::Machine& machine)
{
    return {{"processor", asQString(machine.processor)}, {"device", asQString(machine.device)}};
}

advisor::Machine machineFromJson(const QJsonObject& json)
{
    return {json["processor"].toString().toStdString(), json["device"].toString().toStdString()};
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
        {"judged_ratio", intervalJson(result.judgedRatio)},
        {"loss_check", lossCheckJson(result.loss)},
        {"peak_bytes", QJsonArray{static_cast<qint64>(result.peakBytesA), static_cast<qint64>(result.peakBytesB)}},
        {"saved_bytes", intervalJson(result.savedBytes)},
        {"verdict", static_cast<int>(result.verdict)},
        {"why", messageJson(result.why)},
        {"notes", messagesJson(result.notes)},
        {"noise", noiseJson(result.noise)},
        {"seconds_spent", result.secondsSpent}};
    if (!result.machine.isEmpty())
        json["machine"] = toJson(result.machine);
    if (result.lossAtEqualTime)
        json["loss_at_equal_time"] = lossesJson(*result.lossAtEqualTime);
    if (!result.losses.empty())
        json["losses"] = historyJson(result.losses);
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
    result.judgedRatio = intervalFrom(json["judged_ratio"]);
    result.loss = lossCheckFrom(json["loss_check"].toObject());
    result.peakBytesA = json["peak_bytes"][0].toInteger();
    result.peakBytesB = json["peak_bytes"][1].toInteger();
    result.savedBytes = intervalFrom(json["saved_bytes"]);
    if (json.contains("loss_at_equal_time"))
        result.lossAtEqualTime = lossesFrom(json["loss_at_equal_time"].toObject());
    result.losses = historyFrom(json["losses"]); // missing in files of earlier versions
    result.verdict = static_cast<advisor::Verdict>(json["verdict"].toInt());
    result.why = messageFrom(json["why"]);
    for (const QJsonValue note : json["notes"].toArray())
        result.notes.push_back(messageFrom(note));
    result.noise = noiseFrom(json["noise"].toObject());
    result.machine = machineFromJson(json["machine"].toObject()); // missing in files of earlier versions
    result.secondsSpent = json["seconds_spent"].toDouble();
    return result;
}

} // namespace app
