#pragma once

#include "advisor/experiment/experiment.h"

#include <QJsonObject>
#include <QJsonValue>
#include <cmath>
#include <limits>
#include <optional>

/// Measurements and their numbers in our JSON files.
namespace app {

/// A number in our JSON files. JSON has no infinity (a possible interval bound of two pairs) and no NaN (a diverged
/// loss), so these are the texts "inf", "-inf" and "nan".
inline QJsonValue jsonNumber(double value)
{
    if (std::isnan(value))
        return QStringLiteral("nan");
    return std::isfinite(value) ? QJsonValue(value) : QJsonValue(value > 0 ? "inf" : "-inf");
}

/// The inverse; 0 for text that is not a number.
inline double numberFrom(const QJsonValue& json)
{
    using Limits = std::numeric_limits<double>;
    const QString text = json.toString();
    return text == "nan"    ? Limits::quiet_NaN()
           : text == "inf"  ? Limits::infinity()
           : text == "-inf" ? -Limits::infinity()
                            : json.toDouble();
}

/// A measurement in its stored form, with its plan.
QJsonObject toJson(const advisor::ExperimentResult& result);
/// nullopt if it is not a measurement, or has a configuration unknown to this version.
std::optional<advisor::ExperimentResult> resultFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Toggle& toggle);
advisor::Toggle toggleFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Machine& machine);
advisor::Machine machineFromJson(const QJsonObject& json);

} // namespace app
