#pragma once

#include <QJsonValue>
#include <cmath>
#include <limits>

namespace app {

/// A number as our files have it. JSON knows neither infinity, where an interval of two pairs may end, nor what a loss
/// is that diverged: these are the texts "inf", "-inf" and "nan".
inline QJsonValue jsonNumber(double value)
{
    if (std::isnan(value))
        return QStringLiteral("nan");
    return std::isfinite(value) ? QJsonValue(value) : QJsonValue(value > 0 ? "inf" : "-inf");
}

/// The other way; 0 for what is no number.
inline double numberFrom(const QJsonValue& json)
{
    using Limits = std::numeric_limits<double>;
    const QString text = json.toString();
    return text == "nan"    ? Limits::quiet_NaN()
           : text == "inf"  ? Limits::infinity()
           : text == "-inf" ? -Limits::infinity()
                            : json.toDouble();
}

} // namespace app
