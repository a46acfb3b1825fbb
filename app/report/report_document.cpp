#include "app/report/report_document.h"

#include "app/report/svg_object.h"

#include <QAbstractTextDocumentLayout>
#include <QPaintDevice>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextTable>
#include <algorithm>
#include <numeric>

namespace app {

using advisor::ReportModel;

namespace {

const QColor kLine(0xc4, 0xc9, 0xd0), kSoft(0xf1, 0xf3, 0xf5), kQuiet(0x55, 0x5c, 0x66), kFinding(0xd5, 0x5e, 0x00);
constexpr int kHeading = 1;                          ///< user state of a block that must not end a page
constexpr double kText = 9, kSmall = 8, kCode = 7.5; // points

QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

std::size_t longestWord(const std::string& text)
{
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    return longest;
}

class Writer {
public:
    explicit Writer(QTextDocument& document)
        : m_document(document), m_cursor(&document),
          m_unit(document.documentLayout()->paintDevice()->logicalDpiX() / 72.0)
    {
        document.documentLayout()->registerHandler(SvgObject::kType, new SvgObject(&document));
    }

    void title(const std::string& text)
    {
        QTextBlockFormat block;
        block.setBottomMargin(8 * m_unit);
        m_cursor.setBlockFormat(block); // the document's first, which is there
        m_cursor.setBlockCharFormat(words(18, true));
        m_cursor.insertText(asQString(text), words(18, true));
    }
    void heading(const std::string& text, double size = 12)
    {
        paragraph(asQString(text), words(size, true), size > 11 ? 14 : 8, 4, true);
        m_cursor.block().setUserState(kHeading);
    }
    void plain(const std::string& text) { paragraph(asQString(text), words(kText), 0, 4, false); }
    void quiet(const std::string& text)
    {
        if (text.empty())
            return;
        QTextCharFormat format = words(kSmall);
        format.setForeground(kQuiet);
        paragraph(asQString(text), format, 2, 4, false);
    }
    void figure(const ReportModel::Figure& figure);
    void table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);
    void section(const ReportModel::Table& section)
    {
        heading(section.heading);
        table(section.header, section.rows);
        quiet(section.note);
    }
    void finding(const advisor::RuleAdvice& row);
    void code(const std::string& language, const std::string& text);

private:
    [[nodiscard]] static QTextCharFormat words(double size, bool bold = false)
    {
        QTextCharFormat format;
        format.setFontPointSize(size);
        format.setFontWeight(bold ? QFont::DemiBold : QFont::Normal);
        return format;
    }
    [[nodiscard]] double width() const { return m_document.pageSize().width() - 2 * m_document.documentMargin(); }

    void paragraph(const QString& text, const QTextCharFormat& format, double above, double below, bool keep)
    {
        QTextBlockFormat block;
        block.setTopMargin(above * m_unit);
        block.setBottomMargin(below * m_unit);
        block.setPageBreakPolicy(QTextFormat::PageBreak_Auto);
        block.setNonBreakableLines(keep);
        m_cursor.insertBlock(block, format);
        m_cursor.insertText(text, format);
    }
    void cell(QTextTable& table, int row, int column, const std::string& text, bool bold);
    [[nodiscard]] QTextTableFormat tableFormat(const std::vector<std::string>& header,
                                               const std::vector<std::vector<std::string>>& rows) const;

    QTextDocument& m_document;
    QTextCursor m_cursor;
    double m_unit; ///< a point, in the document's units
};

void Writer::figure(const ReportModel::Figure& figure)
{
    if (figure.chart.svg.empty())
        return;
    heading(figure.heading);
    QTextCharFormat drawing;
    drawing.setObjectType(SvgObject::kType);
    drawing.setProperty(SvgObject::kSvg, QByteArray::fromStdString(figure.chart.svg));
    drawing.setProperty(SvgObject::kWidth, width());
    m_cursor.insertBlock(QTextBlockFormat(), words(kText));
    m_cursor.insertText(QString(QChar::ObjectReplacementCharacter), drawing);
    if (!figure.chart.legend.empty())
        m_cursor.insertBlock(QTextBlockFormat(), words(kSmall));
    for (const advisor::svg::Chart::Entry& entry : figure.chart.legend) {
        QTextCharFormat swatch = words(kSmall);
        swatch.setForeground(QColor(asQString(entry.colour)));
        m_cursor.insertText(QString(QChar(0x25A0)) + QChar::Nbsp, swatch);
        m_cursor.insertText(asQString(entry.name).replace(' ', QChar::Nbsp) + "   ", words(kSmall));
    }
    quiet(figure.caption);
}

QTextTableFormat Writer::tableFormat(const std::vector<std::string>& header,
                                     const std::vector<std::vector<std::string>>& rows) const
{
    // Each column as wide as its longest text asks for, within bounds: at least a word, and not a kernel's name, which
    // would take the page.
    std::vector<double> lengths;
    const auto look = [&](const std::vector<std::string>& row) {
        lengths.resize(std::max(lengths.size(), row.size()), 8);
        for (std::size_t i = 0; i < row.size(); ++i)
            lengths[i] = std::max({lengths[i], std::min(48.0, static_cast<double>(row[i].size())),
                                   1.3 * std::min(24.0, static_cast<double>(longestWord(row[i]))) + 3});
    };
    look(header);
    for (const auto& row : rows)
        look(row);
    const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    QList<QTextLength> widths;
    for (const double length : lengths)
        widths << QTextLength(QTextLength::PercentageLength, 100 * length / all);
    QTextTableFormat format;
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    format.setColumnWidthConstraints(widths);
    format.setBorderCollapse(true);
    format.setBorder(0);
    format.setCellSpacing(0);
    format.setCellPadding(2.5 * m_unit);
    format.setHeaderRowCount(header.empty() ? 0 : 1);
    return format;
}

void Writer::cell(QTextTable& table, int row, int column, const std::string& text, bool bold)
{
    QTextTableCell at = table.cellAt(row, column);
    QTextTableCellFormat format;
    format.setBottomBorder(0.6 * m_unit);
    format.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBottomBorderBrush(kLine);
    if (bold)
        format.setBackground(kSoft);
    at.setFormat(format);
    at.firstCursorPosition().insertText(asQString(text), words(kSmall, bold));
}

void Writer::table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows)
{
    std::size_t columns = header.size();
    for (const auto& row : rows)
        columns = std::max(columns, row.size());
    if (columns == 0 || rows.empty())
        return;
    const int head = header.empty() ? 0 : 1;
    QTextTable* table = m_cursor.insertTable(head + static_cast<int>(rows.size()), static_cast<int>(columns),
                                             tableFormat(header, rows));
    for (std::size_t column = 0; column < header.size(); ++column)
        cell(*table, 0, static_cast<int>(column), header[column], true);
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t column = 0; column < rows[row].size(); ++column)
            cell(*table, head + static_cast<int>(row), static_cast<int>(column), rows[row][column], false);
    m_cursor = table->lastCursorPosition();
    m_cursor.movePosition(QTextCursor::NextCharacter);
}

void Writer::finding(const advisor::RuleAdvice& row)
{
    const advisor::Advice& advice = row.advice;
    heading(advice.title, 10.5);
    QTextCharFormat id = words(kSmall);
    id.setForeground(kFinding);
    m_cursor.insertText("   " + asQString(row.id), id);
    plain(advice.reason);
    if (const std::string saving = advisor::savingSentence(advice); !saving.empty())
        plain(saving);
    if (advice.toggle)
        plain("Change: " + advice.toggle->key + " = " + advice.toggle->to + " (now " + advice.toggle->from + ")");
    for (const std::string& caveat : advice.caveats)
        quiet("– " + caveat);
}

void Writer::code(const std::string& language, const std::string& text)
{
    if (text.empty())
        return;
    quiet(language);
    QTextFrameFormat frame;
    frame.setBackground(kSoft);
    frame.setPadding(4 * m_unit);
    frame.setBottomMargin(4 * m_unit);
    QTextCharFormat format = words(kCode);
    format.setFontFamilies({"monospace"});
    format.setFontFixedPitch(true);
    m_cursor.insertFrame(frame);
    m_cursor.insertText(asQString(text).replace('\n', QChar::LineSeparator), format);
    m_cursor.movePosition(QTextCursor::End);
}

void addAdvice(Writer& writer, const std::vector<advisor::RuleAdvice>& advice)
{
    if (advice.empty())
        return;
    std::vector<std::vector<std::string>> silent, untold;
    bool any = false;
    writer.heading("Findings");
    for (const advisor::RuleAdvice& row : advice) {
        if (row.advice.state == advisor::State::Fires)
            writer.finding(row);
        else
            (row.advice.state == advisor::State::Silent ? silent : untold).push_back({row.id, row.advice.reason});
        any = any || row.advice.state == advisor::State::Fires;
    }
    if (!any)
        writer.plain("None.");
    for (const auto& [heading, rows] : {std::pair("Looked for and not found", &silent), {"Cannot be told", &untold}})
        if (!rows->empty()) {
            writer.heading(heading);
            writer.table({}, *rows);
        }
}

/// A heading at the foot of a page goes with what it heads to the next.
void keepHeadings(QTextDocument& document)
{
    const auto pageOf = [&](const QTextBlock& block) {
        return static_cast<int>(document.documentLayout()->blockBoundingRect(block).top() /
                                document.pageSize().height());
    };
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.userState() != kHeading || !block.next().isValid() || pageOf(block) == pageOf(block.next()))
            continue;
        QTextBlockFormat format = block.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(block).setBlockFormat(format);
    }
}

} // namespace

void fillDocument(QTextDocument& document, const ReportModel& model)
{
    Writer writer(document);
    writer.title(model.title);
    std::vector<std::vector<std::string>> environment;
    for (const auto& [name, value] : model.environment)
        environment.push_back({name, value});
    writer.table({}, environment);
    for (const ReportModel::Table& table : model.results)
        writer.section(table);
    for (const ReportModel::Figure& figure : model.figures)
        writer.figure(figure);
    addAdvice(writer, model.advice);
    for (const ReportModel::Table& table : model.tables)
        writer.section(table);
    if (!model.code.empty())
        writer.heading("Code to paste");
    for (const ReportModel::Code& code : model.code) {
        writer.heading(code.key, 10);
        writer.code("PyTorch", code.python);
        writer.code("LibTorch", code.cpp);
    }
    keepHeadings(document);
}

} // namespace app
