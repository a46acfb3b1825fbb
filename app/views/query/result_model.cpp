#include "app/views/query/result_model.h"

#include "app/look/number_format.h"

#include <algorithm>

namespace app {

using profiler::query::ResultTable;
using profiler::query::Unit;
using profiler::query::Value;

namespace {

QString exactText(const Value& value)
{
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return QString::number(*number);
    if (const auto* real = std::get_if<double>(&value))
        return QString::number(*real, 'g', 17);
    const auto* text = std::get_if<std::string>(&value);
    return text ? QString::fromStdString(*text) : QString();
}

/// RFC 4180 for a comma; for a tab, separators and line ends within a cell become spaces.
QString cell(QString text, QChar separator)
{
    if (separator == '\t')
        return text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    if (!text.contains(separator) && !text.contains('"') && !text.contains('\n') && !text.contains('\r'))
        return text;
    return '"' + text.replace("\"", "\"\"") + '"';
}

} // namespace

void ResultModel::show(std::shared_ptr<const ResultTable> table, profiler::TraceTime begin)
{
    beginResetModel();
    m_table = std::move(table);
    m_begin = begin;
    m_isNumeric.assign(m_table ? m_table->columns.size() : 0, true);
    constexpr std::size_t kLooked = 1000; // rows; a column with numbers in all of these is one of numbers
    for (std::size_t row = 0; m_table && row < std::min(m_table->rows, kLooked); ++row)
        for (std::size_t column = 0; column < m_isNumeric.size(); ++column)
            if (std::holds_alternative<std::string>(m_table->at(row, column)))
                m_isNumeric[column] = false;
    endResetModel();
}

const Value& ResultModel::value(int row, int column) const
{
    return m_table->at(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
}

std::optional<std::int64_t> ResultModel::integer(int row, int column) const
{
    const auto* number = std::get_if<std::int64_t>(&value(row, column));
    return number ? std::optional{*number} : std::nullopt;
}

std::optional<std::int64_t> ResultModel::sliceKey(int row) const
{
    for (int column = 0; column < columnCount(); ++column)
        if (m_table->columns[static_cast<std::size_t>(column)].unit == Unit::SliceId)
            if (const auto key = integer(row, column))
                return key;
    return std::nullopt;
}

std::optional<profiler::TimeRange> ResultModel::range(int row) const
{
    std::optional<std::int64_t> begin, end, duration;
    for (int column = 0; column < columnCount(); ++column) {
        const auto number = integer(row, column);
        if (!number)
            continue;
        switch (m_table->columns[static_cast<std::size_t>(column)].unit) {
        case Unit::Time:
            (begin ? end : begin) = number;
            break;
        case Unit::Duration:
            duration = duration ? duration : number;
            break;
        default:
            break;
        }
    }
    if (!begin)
        return std::nullopt;
    const std::int64_t last = duration ? *begin + *duration : end.value_or(*begin);
    return profiler::TimeRange{profiler::traceTime(*begin), profiler::traceTime(std::max(last, *begin + 1))};
}

QString ResultModel::csv(const std::vector<int>& rows, QChar separator) const
{
    QString text;
    const QString end = separator == '\t' ? "\n" : "\r\n";
    for (int column = 0; column < columnCount(); ++column)
        text += (column == 0 ? QString() : QString(separator)) +
                cell(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), separator);
    text += end;
    for (const int row : rows) {
        for (int column = 0; column < columnCount(); ++column)
            text += (column == 0 ? QString() : QString(separator)) + cell(exactText(value(row, column)), separator);
        text += end;
    }
    return text;
}

int ResultModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->rows);
}

int ResultModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->columns.size());
}

QString ResultModel::cellText(int row, int column) const
{
    const Value& shown = value(row, column);
    if (std::holds_alternative<std::monostate>(shown))
        return QStringLiteral("–");
    if (const auto* text = std::get_if<std::string>(&shown))
        return QString::fromStdString(*text).simplified();
    const auto* whole = std::get_if<std::int64_t>(&shown);
    const double number = whole ? static_cast<double>(*whole) : std::get<double>(shown);
    switch (m_table->columns[static_cast<std::size_t>(column)].unit) {
    case Unit::Duration:
        return formatUs(number / 1e3);
    case Unit::Time:
        return whole ? formatPosition(profiler::traceTime(*whole) - m_begin) : formatSignificant(number);
    case Unit::Bytes:
        return formatBytes(number);
    case Unit::Share:
        return formatShare(number);
    case Unit::SliceId:
        return exactText(shown);
    default:
        return whole ? formatCount(*whole) : formatSignificant(number);
    }
}

QVariant ResultModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_table)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return cellText(index.row(), index.column());
    case Qt::ToolTipRole:
        return exactText(value(index.row(), index.column()));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::AlignVCenter |
            (m_isNumeric[static_cast<std::size_t>(index.column())] ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || !m_table || section < 0 || section >= columnCount())
        return {};
    const auto column = static_cast<std::size_t>(section);
    switch (role) {
    case Qt::DisplayRole:
        return QString::fromStdString(m_table->columns[column].name);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::AlignVCenter | (m_isNumeric[column] ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

} // namespace app
