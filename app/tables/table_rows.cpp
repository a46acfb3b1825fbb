#include "app/tables/table_rows.h"

#include "profiler/formats/csv/csv_text.h"

#include <QCoreApplication>
#include <QSaveFile>
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace app {

namespace {

constexpr std::size_t kPiece = 1 << 20; ///< write buffer size in bytes

QString tsvCell(QString text)
{
    for (QChar& c : text)
        if (c == u'\t' || c == u'\n' || c == u'\r')
            c = u' ';
    return text;
}

template <class CellText>
void appendLine(std::string& out, std::size_t cells, TableText kind, CellText&& cell)
{
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < cells; ++i)
        texts.push_back((kind == TableText::Csv ? cell(i) : tsvCell(cell(i))).toStdString());
    if (kind == TableText::Csv) {
        profiler::formats::writers::appendCsvRow(out, std::vector<std::string_view>(texts.begin(), texts.end()));
        return;
    }
    for (std::size_t i = 0; i < cells; ++i)
        out += (i > 0 ? "\t" : "") + texts[i];
    out += '\n';
}

void appendHeading(std::string& out, const TableRows& table, const TableColumns& columns, TableText kind)
{
    appendLine(out, columns.size(), kind, [&](std::size_t i) { return exactTitle(table.columns()[columns[i]]); });
}

void appendRow(std::string& out, const TableRows& table, std::size_t row, const TableColumns& columns, TableText kind)
{
    appendLine(out, columns.size(), kind, [&](std::size_t i) { return exactText(table.value(row, columns[i])); });
}

profiler::Error writeError(const QSaveFile& file)
{
    return profiler::makeError<"table.unwritten", "the file cannot be written: {why}">(
        profiler::Error::Code::Io, file.fileName().toStdString(), "choose another folder",
        {{"why", file.errorString().toStdString()}});
}

} // namespace

QString exactTitle(const TableColumn& column)
{
    return column.exactUnit.isEmpty() ? column.title : QStringLiteral("%1 (%2)").arg(column.title, column.exactUnit);
}

TableColumns allColumns(const TableRows& table)
{
    TableColumns columns(table.columns().size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    return columns;
}

QString tableText(const TableRows& table, std::span<const std::size_t> rows, const TableColumns& columns,
                  TableText kind, const std::function<void(double)>& progress, const std::stop_token& stop)
{
    std::string text;
    appendHeading(text, table, columns, kind);
    std::size_t reported = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (text.size() - reported > kPiece) {
            reported = text.size();
            if (stop.stop_requested())
                break;
            if (progress)
                progress(static_cast<double>(i) / static_cast<double>(rows.size()));
        }
        appendRow(text, table, rows[i], columns, kind);
    }
    return QString::fromStdString(text);
}

profiler::Result<void> saveCsv(const TableRows& table, const TableColumns& columns, const std::filesystem::path& path,
                               const std::function<void(double)>& progress, const std::stop_token& stop)
{
    QSaveFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::WriteOnly))
        return tl::unexpected(writeError(file));
    std::string piece;
    appendHeading(piece, table, columns, TableText::Csv);
    for (std::size_t row = 0; row <= table.size(); ++row) {
        if (row == table.size() || piece.size() > kPiece) {
            if (stop.stop_requested()) {
                file.cancelWriting();
                return profiler::fail<"work.stopped", "stopped">(profiler::Error::Code::Cancelled, path.string());
            }
            const auto bytes = static_cast<qint64>(piece.size());
            if (file.write(piece.data(), bytes) != bytes)
                return tl::unexpected(writeError(file));
            piece.clear();
            if (progress)
                progress(static_cast<double>(row) / static_cast<double>(std::max<std::size_t>(1, table.size())));
        }
        if (row < table.size())
            appendRow(piece, table, row, columns, TableText::Csv);
    }
    if (!file.commit())
        return tl::unexpected(writeError(file));
    return {};
}

} // namespace app
