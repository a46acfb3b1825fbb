#include "app/document/remote_advice.h"

#include "advisor/runner/remote_frames.h"
#include "trainer/config/training_config.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace app {

using advisor::RuleAdvice;

namespace {

// Rules write at most about ten places and a few sentences.
constexpr qsizetype kMostRows = 100;
constexpr std::size_t kMostText = 4000;

std::string textOf(const QJsonValue& value)
{
    return advisor::runner::harmlessText(value.toString().toStdString(), kMostText);
}

double numberOf(const QJsonValue& value)
{
    const double number = value.toDouble();
    return std::isfinite(number) ? number : 0;
}

profiler::Message messageOf(const QJsonValue& message)
{
    const QJsonObject object = message.toObject();
    return {textOf(object["id"]), {}, textOf(object["text"])};
}

std::optional<advisor::Toggle> toggleOf(const QJsonValue& value)
{
    const QJsonObject object = value.toObject();
    advisor::Toggle toggle{textOf(object["key"]), textOf(object["from"]), textOf(object["to"])};
    return config::findKnob(toggle.key) ? std::optional(std::move(toggle)) : std::nullopt;
}

std::optional<advisor::Saving> savingOf(const QJsonValue& value)
{
    using advisor::SavingUnit;
    const QJsonObject object = value.toObject();
    const QString unit = object["unit"].toString();
    advisor::Saving saving;
    if (unit == "us_per_epoch")
        saving.unit = SavingUnit::UsPerEpoch;
    else if (unit == "us_per_validation")
        saving.unit = SavingUnit::UsPerValidation;
    else if (unit == "bytes")
        saving.unit = SavingUnit::Bytes;
    else if (unit != "us_per_step")
        return std::nullopt;
    saving.low = numberOf(object["low"]);
    saving.mid = numberOf(object["mid"]);
    saving.high = numberOf(object["high"]);
    saving.ofUs = std::max(0.0, numberOf(object["of_us"]));
    saving.kind =
        object["kind"].toString() == "upper bound" ? advisor::SavingKind::UpperBound : advisor::SavingKind::Estimate;
    saving.coverage = std::clamp(numberOf(object["coverage"]), 0.0, 1.0);
    return saving.low <= saving.mid && saving.mid <= saving.high ? std::optional(saving) : std::nullopt;
}

/// Places on tracks that this trace has.
std::vector<advisor::Evidence> evidenceOf(const QJsonArray& rows, const profiler::Trace& trace)
{
    using Microseconds = std::chrono::duration<double, std::micro>;
    std::vector<advisor::Evidence> evidence;
    for (qsizetype i = 0; i < std::min(rows.size(), kMostRows); ++i) {
        const QJsonObject row = rows[i].toObject();
        const std::string name = row["track"].toString().toStdString();
        const std::string process = row["process"].toString().toStdString();
        const auto tracks = trace.tracks();
        const auto track = std::find_if(tracks.begin(), tracks.end(), [&](const profiler::Track& one) {
            return one.name == name && one.processName == process;
        });
        const double begin = numberOf(row["begin_us"]), duration = numberOf(row["duration_us"]);
        const double most = Microseconds(trace.range().duration()).count();
        if (track == tracks.end() || begin < 0 || duration < 0 || begin + duration > most + 1)
            continue;
        const auto from =
            trace.range().begin + std::chrono::duration_cast<std::chrono::nanoseconds>(Microseconds(begin));
        evidence.push_back({track->id,
                            {},
                            {from, from + std::chrono::duration_cast<std::chrono::nanoseconds>(Microseconds(duration))},
                            textOf(row["name"])});
    }
    return evidence;
}

std::vector<advisor::SourcePlace> sourceOf(const QJsonArray& rows)
{
    std::vector<advisor::SourcePlace> places;
    for (qsizetype i = 0; i < std::min(rows.size(), kMostRows); ++i) {
        const QJsonObject row = rows[i].toObject();
        advisor::SourcePlace place;
        place.file = textOf(row["file"]);
        place.line = std::max(0, row["line"].toInt());
        place.endLine = std::max(place.line, row["end_line"].toInt());
        place.column = std::max(0, row["column"].toInt());
        place.endColumn = std::max(0, row["end_column"].toInt());
        place.function = textOf(row["function"]);
        place.what = textOf(row["what"]);
        places.push_back(std::move(place));
    }
    return places;
}

RuleAdvice adviceOf(const QJsonObject& object, const profiler::Trace& trace)
{
    using advisor::State;
    RuleAdvice row;
    row.id = textOf(object["id"]);
    advisor::Advice& advice = row.advice;
    const QString state = object["state"].toString();
    advice.state = state == "fires" ? State::Fires : state == "silent" ? State::Silent : State::CannotTell;
    advice.title = textOf(object["title"]);
    const QJsonObject messages = object["messages"].toObject();
    advice.reason = messageOf(messages["reason"]);
    advice.need = messageOf(messages["need"]);
    advice.evidence = evidenceOf(object["evidence"].toArray(), trace);
    advice.saving = savingOf(object["saving"]);
    advice.whyNoPrediction = messageOf(messages["why_no_prediction"]);
    const QJsonArray caveats = messages["caveats"].toArray();
    for (qsizetype i = 0; i < std::min(caveats.size(), kMostRows); ++i)
        advice.caveats.push_back(messageOf(caveats[i]));
    advice.toggle = toggleOf(object["toggle"]);
    advice.whyNoToggle = messageOf(messages["why_no_toggle"]);
    const QString objective = object["judged_by"].toString();
    advice.objective = objective == "memory"        ? advisor::Objective::Memory
                       : objective == "convergence" ? advisor::Objective::LossAtEqualTime
                                                    : advisor::Objective::Time;
    advice.source = sourceOf(object["source"].toArray());
    const std::string measure = textOf(object["measure"]);
    if (measure == "epoch" || measure == "validation")
        advice.measure = measure;
    row.sharesWith = textOf(object["shares_with"]);
    return row;
}

} // namespace

std::optional<std::vector<RuleAdvice>> remoteAdvice(const QByteArray& json, const profiler::Trace& trace)
{
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.object()["advice"].isArray())
        return std::nullopt;
    std::set<std::string, std::less<>> rules;
    for (const advisor::Rule& rule : advisor::allRules())
        rules.emplace(rule.key);
    std::vector<RuleAdvice> advice;
    for (const auto value : document.object()["advice"].toArray()) {
        RuleAdvice row = adviceOf(value.toObject(), trace);
        // Each rule speaks once.
        if (rules.erase(row.id) > 0)
            advice.push_back(std::move(row));
    }
    return advice;
}

} // namespace app
