#pragma once

#include <QJsonValue>
#include <cmath>
#include <limits>

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

} // namespace app
