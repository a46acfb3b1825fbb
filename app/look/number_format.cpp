#include "app/look/number_format.h"

namespace app {

QString formatCounted(std::int64_t count, const QString& one, const QString& many)
{
    return formatCount(count) + u' ' + (count == 1 ? one : many);
}

QString formatRatio(double ratio)
{
    return formatSignificant(ratio) + QStringLiteral(" ×");
}

QString formatRate(double perSecond, const QString& what)
{
    return formatSignificant(perSecond, kPlainCounts) + u' ' + what + QStringLiteral("/s");
}

QString formatValue(double value, const QString& unit)
{
    if (unit == QStringLiteral("bytes"))
        return formatBytes(value);
    if (unit == QStringLiteral("bytes/s"))
        return formatBytes(value) + QStringLiteral("/s");
    if (unit == QStringLiteral("share"))
        return formatShare(value);
    const QString text = formatSignificant(value, kPlainCounts);
    if (unit == QStringLiteral("1/s"))
        return text + QStringLiteral("/s");
    return unit.isEmpty() ? text : text + u' ' + unit;
}

} // namespace app
