#include "app/report/report_document.h"

#include "app/look/qstring.h"
#include "app/report/report_table.h"
#include "app/report/svg_object.h"

#include <QAbstractTextDocumentLayout>
#include <QGuiApplication>
#include <QPaintDevice>
#include <QScreen>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextTable>
#include <algorithm>
#include <utility>

namespace app {

using advisor::ReportModel;

namespace {

const QColor kSoft(0xf1, 0xf3, 0xf5), kQuiet(0x55, 0x5c, 0x66), kFinding(0xd5, 0x5e, 0x00);
constexpr int kMostTurns = 5;
constexpr int kHeading = 1;                          ///< user state of a block that must not be last on a page
constexpr double kText = 9, kSmall = 8, kCode = 7.5; // points

/// The unit of margins and padding; the layout scales them to the paint device.
double layoutDpi()
{
    const QScreen* screen = QGuiApplication::primaryScreen();
    return screen ? qRound(screen->logicalDotsPerInchY()) : 100;
}

class Writer {
public:
    explicit Writer(QTextDocument& document)
        : m_document(document), m_cursor(&document),
          m_unit(document.documentLayout()->paintDevice()->logicalDpiX() / 72.0), m_layoutPoint(layoutDpi() / 72)
    {
        document.documentLayout()->registerHandler(SvgObject::kType, new SvgObject(&document));
    }

    void title(const std::string& text)
    {
        QTextBlockFormat block;
        block.setBottomMargin(8 * m_layoutPoint);
        m_cursor.setBlockFormat(block); // the first block of the document always exists
        m_cursor.setBlockCharFormat(words(18, true));
        m_cursor.insertText(asQString(text), words(18, true));
    }
    void heading(const std::string& text, double size = 12)
    {
        paragraph(asQString(text), words(size, true), size > 11 ? 16 : 10, 4, true);
        m_cursor.block().setUserState(kHeading);
    }
    void plain(const std::string& text) { paragraph(asQString(text), words(kText), 1, 4, false); }
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
        block.setTopMargin(above * m_layoutPoint);
        block.setBottomMargin(below * m_layoutPoint);
        block.setPageBreakPolicy(QTextFormat::PageBreak_Auto);
        block.setNonBreakableLines(keep);
        insertBlock(block, format);
        m_cursor.insertText(text, format);
    }
    /// A table or frame is always followed by a block.
    void insertBlock(const QTextBlockFormat& block, const QTextCharFormat& format)
    {
        if (std::exchange(m_inEmptyBlock, false)) {
            m_cursor.setBlockFormat(block);
            m_cursor.setBlockCharFormat(format);
        } else {
            m_cursor.insertBlock(block, format);
        }
    }
    QTextDocument& m_document;
    QTextCursor m_cursor;
    double m_unit;        ///< a point, in the document's units
    double m_layoutPoint; ///< a point in format units: the layout scales them to the device
    bool m_inEmptyBlock = false;
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
    insertBlock(QTextBlockFormat(), words(kText));
    m_cursor.insertText(QString(QChar::ObjectReplacementCharacter), drawing);
    if (!figure.chart.legend.empty())
        insertBlock(QTextBlockFormat(), words(kSmall));
    for (const advisor::svg::Chart::Entry& entry : figure.chart.legend) {
        QTextCharFormat swatch = words(kSmall);
        swatch.setForeground(QColor(asQString(entry.colour)));
        m_cursor.insertText(QString(QChar(0x25A0)) + QChar::Nbsp, swatch);
        m_cursor.insertText(asQString(entry.name).replace(' ', QChar::Nbsp) + "   ", words(kSmall));
    }
    quiet(figure.caption);
}

void Writer::table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows)
{
    if (rows.empty() || std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.empty(); }))
        return;
    const TableLook look{.points = kSmall, .width = width(), .unit = m_unit, .layoutPoint = m_layoutPoint};
    const QTextTable* table = insertReportTable(m_cursor, look, header, rows);
    m_cursor = table->lastCursorPosition();
    m_cursor.movePosition(QTextCursor::NextCharacter);
    m_inEmptyBlock = true;
}

void Writer::finding(const advisor::RuleAdvice& row)
{
    const advisor::Advice& advice = row.advice;
    heading(advice.title, 10.5);
    QTextCharFormat id = words(kSmall);
    id.setForeground(kFinding);
    m_cursor.insertText("   " + asQString(row.id), id);
    plain(advice.reason.text);
    if (const std::string saving = advisor::savingSentence(advice); !saving.empty())
        plain(saving);
    if (advice.toggle)
        plain("Change: " + advice.toggle->key + " = " + advice.toggle->to + " (now " + advice.toggle->from + ")");
    for (const profiler::Message& caveat : advice.caveats)
        quiet("– " + caveat.text);
}

void Writer::code(const std::string& language, const std::string& text)
{
    if (text.empty())
        return;
    quiet(language);
    QTextFrameFormat frame;
    frame.setBackground(kSoft);
    frame.setPadding(4 * m_layoutPoint);
    frame.setBottomMargin(4 * m_layoutPoint);
    QTextCharFormat format = words(kCode);
    format.setFontFamilies({"monospace"});
    format.setFontFixedPitch(true);
    m_cursor.insertFrame(frame);
    m_cursor.insertText(asQString(text).replace('\n', QChar::LineSeparator), format);
    m_cursor.movePosition(QTextCursor::End);
    m_inEmptyBlock = true;
}

void addAdvice(Writer& writer, const std::vector<advisor::RuleAdvice>& advice)
{
    if (advice.empty())
        return;
    std::vector<std::vector<std::string>> silent, cannotTell;
    bool any = false;
    writer.heading("Findings");
    for (const advisor::RuleAdvice& row : advice) {
        if (row.advice.state == advisor::State::Fires)
            writer.finding(row);
        else
            (row.advice.state == advisor::State::Silent ? silent : cannotTell)
                .push_back({row.id, row.advice.reason.text});
        any = any || row.advice.state == advisor::State::Fires;
    }
    if (!any)
        writer.plain("None.");
    for (const auto& [heading, rows] : {std::pair("Checked, not found", &silent), {"Cannot tell", &cannotTell}})
        if (!rows->empty()) {
            writer.heading(heading);
            writer.table({}, *rows);
        }
}

/// Moves a heading at the bottom of a page to the next page, together with the text below it (and with a heading
/// directly before it).
/// @return false if no heading had to be moved
bool keepHeadings(QTextDocument& document)
{
    bool moved = false;
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
        moved = true;
    }
    return moved;
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
    // Moving one heading may bring the next one to the bottom of a page.
    for (int turn = 0; turn < kMostTurns && keepHeadings(document); ++turn) {
    }
}

} // namespace app
