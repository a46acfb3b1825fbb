#include "app/report/report_table.h"

#include "app/report/cell_text.h"
#include "app/report/column_widths.h"

#include <QAbstractTextDocumentLayout>
#include <QFontMetricsF>
#include <QRegularExpression>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>
#include <algorithm>
#include <numeric>
#include <optional>

namespace app {

namespace {

const QColor kLine(0xc4, 0xc9, 0xd0), kSoft(0xf1, 0xf3, 0xf5), kQuiet(0x55, 0x5c, 0x66);
constexpr double kSide = 4.5, kAbove = 2.5; // points around a text
constexpr double kBelow = 6;                // points below a table
constexpr double kLeastPoints = 6.5;        // minimum readable size
constexpr double kWidestWord = 0.4;         // share of the page for a column if not all words fit
constexpr double kSlack = 1.02;             // the width of a line is not exactly the sum of its letters

struct Cell {
    QString text;
    QString whole; ///< full text in small letters below; empty: `text` is complete
};

bool isNone(const QString& text)
{
    return text.isEmpty() || text == "–" || text == "-";
}

bool isNumberOrNone(const QString& text)
{
    static const QRegularExpression number(QStringLiteral("^[-−+±~<>≈]?\\s?\\d[^\\n]{0,24}$"));
    return isNone(text) || number.match(text).hasMatch();
}

class TableWriter {
public:
    TableWriter(const QTextDocument& document, const TableLook& look, const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows);
    QTextTable* write(QTextCursor& cursor);

private:
    [[nodiscard]] QTextCharFormat words(double points, bool bold) const;
    [[nodiscard]] double widthOf(QStringView text, double points, bool bold) const;
    [[nodiscard]] std::vector<ColumnNeed> needs(double points) const;
    void chooseSize();
    void fill(QTextTable& table, int row, std::size_t column, const Cell& cell, bool bold) const;

    const QTextDocument& m_document;
    TableLook m_look;
    std::vector<Cell> m_header;
    std::vector<std::vector<Cell>> m_rows;
    std::vector<bool> m_isNumber; ///< by column
    double m_points;
    std::vector<double> m_widths; ///< text width by column
};

TableWriter::TableWriter(const QTextDocument& document, const TableLook& look, const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows)
    : m_document(document), m_look(look), m_points(look.points)
{
    std::size_t columns = header.size();
    for (const std::string& text : header)
        m_header.push_back({withUnitsKept(QString::fromStdString(text)), {}});
    for (const auto& row : rows) {
        columns = std::max(columns, row.size());
        auto& cells = m_rows.emplace_back();
        for (const std::string& text : row)
            cells.push_back({withUnitsKept(QString::fromStdString(text)), {}});
        if (const QString kept = header.empty() || row.empty() ? QString() : shortNameOf(cells[0].text);
            !kept.isEmpty())
            cells[0] = {kept, cells[0].text};
    }
    // In a table without a header, columns that look like numbers are numeric only by chance.
    m_isNumber.assign(columns, false);
    for (std::size_t column = 1; column < columns && !header.empty(); ++column) {
        const auto texts = [&](const auto& is) {
            return [&, is](const auto& row) { return column >= row.size() || is(row[column].text); };
        };
        m_isNumber[column] = std::all_of(m_rows.begin(), m_rows.end(), texts(isNumberOrNone)) &&
                             !std::all_of(m_rows.begin(), m_rows.end(), texts(isNone));
    }
    chooseSize();
}

QTextCharFormat TableWriter::words(double points, bool bold) const
{
    QTextCharFormat format;
    format.setFontPointSize(points);
    format.setFontWeight(bold ? QFont::DemiBold : QFont::Normal);
    return format;
}

double TableWriter::widthOf(QStringView text, double points, bool bold) const
{
    QFont font = m_document.defaultFont();
    font.setPointSizeF(points);
    font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
    return kSlack * QFontMetricsF(font, m_document.documentLayout()->paintDevice()).horizontalAdvance(text.toString());
}

std::vector<ColumnNeed> TableWriter::needs(double points) const
{
    std::vector<ColumnNeed> needs(m_isNumber.size());
    const bool anyText = std::count(m_isNumber.begin(), m_isNumber.end(), false) > 1 || !m_header.empty();
    const auto look = [&](const std::vector<Cell>& row, bool bold) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            const auto width = [&](QStringView text) { return widthOf(text, points, bold); };
            ColumnNeed& need = needs[column];
            need.word = std::max(need.word, widestWord(row[column].text, width));
            need.line = std::max(need.line, width(row[column].text));
        }
    };
    look(m_header, true);
    for (const auto& row : m_rows)
        look(row, false);
    // In a table without a header, the last column explains the others.
    for (std::size_t column = 0; column < needs.size(); ++column)
        needs[column].grows = m_header.empty() ? column + 1 == needs.size() : anyText && !m_isNumber[column];
    return needs;
}

void TableWriter::chooseSize()
{
    const double room = m_look.width - 2 * kSide * m_look.unit * static_cast<double>(m_isNumber.size());
    std::vector<ColumnNeed> wanted = needs(m_points);
    while (!wordsFit(wanted, room)) {
        auto capped = wanted;
        for (ColumnNeed& need : capped)
            need.word = std::min(need.word, kWidestWord * room);
        if (wordsFit(capped, room) || m_points <= kLeastPoints) {
            wanted = std::move(capped);
            break;
        }
        m_points -= 0.5;
        wanted = needs(m_points);
    }
    m_widths = columnWidths(wanted, room);
}

void TableWriter::fill(QTextTable& table, int row, std::size_t column, const Cell& cell, bool bold) const
{
    QTextTableCell at = table.cellAt(row, static_cast<int>(column));
    QTextTableCellFormat format;
    format.setBottomBorder(0.6 * m_look.layoutPoint);
    format.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBottomBorderBrush(kLine);
    format.setLeftPadding(kSide * m_look.layoutPoint);
    format.setRightPadding(kSide * m_look.layoutPoint);
    format.setTopPadding(kAbove * m_look.layoutPoint);
    format.setBottomPadding(kAbove * m_look.layoutPoint);
    if (bold)
        format.setBackground(kSoft);
    at.setFormat(format);
    QTextCursor cursor = at.firstCursorPosition();
    QTextBlockFormat block;
    block.setAlignment(m_isNumber[column] ? Qt::AlignRight : Qt::AlignLeft);
    cursor.setBlockFormat(block);
    const auto toFit = [&](const QString& text, double points) {
        return brokenToFit(text, m_widths[column], [&](QStringView part) { return widthOf(part, points, bold); });
    };
    cursor.insertText(toFit(cell.text, m_points), words(m_points, bold));
    if (cell.whole.isEmpty())
        return;
    const double small = std::min(m_points, kLeastPoints);
    QTextCharFormat quiet = words(small, false);
    quiet.setForeground(kQuiet);
    cursor.insertBlock(block, quiet);
    cursor.insertText(toFit(cell.whole, small), quiet);
}

QTextTable* TableWriter::write(QTextCursor& cursor)
{
    const double padding = 2 * kSide * m_look.unit;
    QList<QTextLength> widths;
    for (const double width : m_widths)
        widths << QTextLength(QTextLength::PercentageLength, 100 * (width + padding) / m_look.width);
    QTextTableFormat format;
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    format.setColumnWidthConstraints(widths);
    format.setBorderCollapse(true);
    format.setBorder(0);
    format.setCellSpacing(0);
    format.setCellPadding(0); // cells have their own margins
    format.setBottomMargin(kBelow * m_look.layoutPoint);
    format.setHeaderRowCount(m_header.empty() ? 0 : 1);
    const int head = m_header.empty() ? 0 : 1;
    QTextTable* table =
        cursor.insertTable(head + static_cast<int>(m_rows.size()), static_cast<int>(m_widths.size()), format);
    for (std::size_t column = 0; column < m_header.size(); ++column)
        fill(*table, 0, column, m_header[column], true);
    for (std::size_t row = 0; row < m_rows.size(); ++row)
        for (std::size_t column = 0; column < m_rows[row].size(); ++column)
            fill(*table, head + static_cast<int>(row), column, m_rows[row][column], false);
    return table;
}

} // namespace

QTextTable* insertReportTable(QTextCursor& cursor, const TableLook& look, const std::vector<std::string>& header,
                              const std::vector<std::vector<std::string>>& rows)
{
    return TableWriter(*cursor.document(), look, header, rows).write(cursor);
}

} // namespace app
