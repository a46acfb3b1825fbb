#include "app/tables/table_value.h"

#include "app/look/number_format.h"
#include "app/look/short_name.h"

#include <utility>

namespace app {

TableValue TableValue::ofName(QString name)
{
    TableValue value = ofText(std::move(name));
    if (QString label = shortKernelName(value.text.toStdString()); label != value.text)
        value.label = std::move(label);
    return value;
}

QString fullText(const TableValue& value)
{
    return value.label.isEmpty() ? shownText(value) : value.text;
}

QString shownText(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return {};
    case TableValue::Unit::Text:
    case TableValue::Unit::Size:
        return value.label.isEmpty() ? value.text : value.label;
    case TableValue::Unit::Count:
        return formatCount(value.whole);
    case TableValue::Unit::Time:
        return formatDuration(profiler::Nanoseconds{value.whole});
    case TableValue::Unit::Bytes:
        return formatBytes(static_cast<double>(value.whole));
    case TableValue::Unit::Rate:
        return formatBytes(value.real) + QStringLiteral("/s");
    case TableValue::Unit::Share:
        return formatShare(value.real);
    case TableValue::Unit::Position:
        return formatPosition(profiler::Nanoseconds{value.whole});
    }
    return {};
}

QString exactText(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return {};
    case TableValue::Unit::Text:
    case TableValue::Unit::Size:
        return value.text;
    case TableValue::Unit::Rate:
        return QString::number(value.real, 'f', 0);
    case TableValue::Unit::Share:
        return QString::number(value.real, 'g', 9);
    default:
        return QString::number(value.whole);
    }
}

bool comesBefore(const TableValue& a, const TableValue& b)
{
    using Unit = TableValue::Unit;
    if (a.unit != b.unit)
        return a.unit == Unit::None;
    switch (a.unit) {
    case Unit::None:
        return false;
    case Unit::Text: {
        const QString &shownA = a.label.isEmpty() ? a.text : a.label, &shownB = b.label.isEmpty() ? b.text : b.label;
        return shownA == shownB ? a.text < b.text : shownA < shownB;
    }
    case Unit::Rate:
    case Unit::Share:
        return a.real < b.real;
    default:
        return a.whole < b.whole;
    }
}

} // namespace app
