#include "app/tables/table_value.h"

#include "app/look/number_format.h"

namespace app {

QString shownText(const TableValue& value)
{
    switch (value.unit) {
    case TableValue::Unit::None:
        return {};
    case TableValue::Unit::Text:
    case TableValue::Unit::Size:
        return value.text;
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
    case Unit::Text:
        return a.text < b.text;
    case Unit::Rate:
    case Unit::Share:
        return a.real < b.real;
    default:
        return a.whole < b.whole;
    }
}

} // namespace app
