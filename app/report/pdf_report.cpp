#include "app/report/pdf_report.h"

#include "app/look/display_text.h"

#include <QAbstractEventDispatcher>
#include <QAbstractTextDocumentLayout>
#include <QGuiApplication>
#include <QImage>
#include <QPageLayout>
#include <QPainter>
#include <QPalette>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSaveFile>
#include <QScreen>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextLayout>
#include <QTextOption>
#include <QTextTable>
#include <QThread>
#include <QUrl>
#include <memory>
#include <vector>

namespace app {

namespace {

constexpr int kDpi = 300;
constexpr double kMarginMm = 18, kFootMm = 10;
constexpr double kChartPixels = 3; // per unit of the drawing: about 330 dots per inch on A4
constexpr int kMostTurns = 5;      // moving a heading may bring the next one to the bottom of a page
constexpr double kRounding = 1;    // dots: the layout computes in multiples of 1/64
// Words with more letters may be broken. In running text, only words that do not fit on a page: copied code should have
// no extra characters.
constexpr qsizetype kLongInCell = 24, kLongInText = 80;

// Qt's rich text understands a subset of CSS 2.1. It scales lengths in pixels, and no others, to the resolution.
constexpr const char* kStyle = R"(
h1 { font-size: 18pt; } h2 { font-size: 12pt; margin-top: 20px; margin-bottom: 5px; }
h3 { font-size: 10.5pt; margin-top: 12px; margin-bottom: 4px; } small { font-size: 8pt; color: #d55e00; }
p, li { font-size: 9pt; margin-top: 2px; margin-bottom: 4px; }
table { border-collapse: collapse; margin-bottom: 6px; } th { background-color: #f1f3f5; }
td, th { padding: 3px 6px; border-bottom: 1px solid #c4c9d0; text-align: left; vertical-align: top; font-size: 8pt; }
.note, figcaption { color: #555c66; font-size: 8pt; }
pre { background-color: #f1f3f5; font-size: 7.5pt; white-space: pre-wrap; }
)";

double fromMm(double mm)
{
    return mm / 25.4 * kDpi;
}

/// Replaces a chart by HTML that Qt can show: an image, and a legend with coloured characters.
/// @param width  in pixels of the layout
void replaceChart(QTextDocument& document, advisor::svg::Chart& chart, const QString& name, int width)
{
    if (chart.svg.empty())
        return;
    QSvgRenderer renderer(QByteArray::fromStdString(chart.svg));
    const QSizeF size = renderer.viewBoxF().size();
    QImage image((size * kChartPixels).toSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    painter.end();
    document.addResource(QTextDocument::ImageResource, QUrl(name), image);
    QString html = QString("<p><img src=\"%1\" width=\"%2\" height=\"%3\"></p>")
                       .arg(name)
                       .arg(width)
                       .arg(qRound(width * size.height() / size.width()));
    html += "<p>";
    for (const advisor::svg::Chart::Entry& entry : chart.legend)
        html += QString("<span style=\"color:%1\">&#x25a0;</span>&nbsp;%2&nbsp;&nbsp; ")
                    .arg(asQString(entry.colour),
                         asQString(advisor::svg::escaped(entry.name)).replace(' ', QStringLiteral("&nbsp;")));
    chart.svg = (html + "</p>").toStdString();
    chart.legend.clear();
}

bool isHeading(const QTextBlock& block)
{
    return block.isValid() && block.blockFormat().headingLevel() > 0;
}

/// Inserts break opportunities into long words: after separators of names, or else between any letters. Without them,
/// a table is as wide as its longest words. Keeps numbers and their units on one line.
void prepareLines(const QTextBlock& block)
{
    static const QRegularExpression unit(QStringLiteral("(?<=\\d) (?=[\\p{L}%×µ])"));
    static const QRegularExpression word(QStringLiteral("\\S+"));
    static const QRegularExpression part(QStringLiteral("[^_:/<>(.,]{%1}|[_:/<>(]+|[.,]+(?!\\d)").arg(kLongInCell));
    QTextCursor cursor(block);
    const bool isCell = cursor.currentTable() != nullptr;
    const auto replace = [&](qsizetype at, qsizetype length, QChar by) {
        cursor.setPosition(block.position() + static_cast<int>(at));
        cursor.setPosition(block.position() + static_cast<int>(at + length), QTextCursor::KeepAnchor);
        cursor.insertText(by);
    };
    const QString text = block.text();
    std::vector<qsizetype> breaks;
    for (auto words = word.globalMatch(text); words.hasNext();) {
        const QRegularExpressionMatch match = words.next();
        if (match.capturedLength() < (isCell || isHeading(block) ? kLongInCell : kLongInText))
            continue;
        for (auto parts = part.globalMatch(match.captured()); parts.hasNext();)
            if (const qsizetype end = parts.next().capturedEnd(); end < match.capturedLength())
                breaks.push_back(match.capturedStart() + end);
    }
    if (isCell)
        for (auto units = unit.globalMatch(text); units.hasNext();)
            replace(units.next().capturedStart(), 1, QChar::Nbsp);
    for (auto at = breaks.rbegin(); at != breaks.rend(); ++at)
        replace(*at, 0, QChar(0x200B)); // zero width space
}

/// Moves a heading at the bottom of a page to the next page, together with the text below it and with headings directly
/// before it.
/// @return false if no heading had to be moved
bool keepHeadings(QTextDocument& document)
{
    bool moved = false;
    // The top of a block can be at the bottom of a page while its first line is on the next page.
    const auto pageOf = [&](const QTextBlock& block) {
        const double top = document.documentLayout()->blockBoundingRect(block).top();
        const double line = block.layout()->lineCount() > 0 ? block.layout()->lineAt(0).y() : 0;
        return static_cast<int>((top + line + kRounding) / document.pageSize().height());
    };
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (!isHeading(block) || !block.next().isValid() || pageOf(block) == pageOf(block.next()))
            continue;
        QTextBlock first = block;
        while (isHeading(first.previous()))
            first = first.previous();
        QTextBlockFormat format = first.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(first).setBlockFormat(format);
        document.markContentsDirty(0, document.characterCount()); // the partial layout skips blocks between tables
        moved = true;
    }
    return moved;
}

/// Fixed page colours: a dark theme of the app must not print white text on paper.
QPalette paperPalette()
{
    QPalette palette;
    palette.setColor(QPalette::Text, Qt::black);
    palette.setColor(QPalette::WindowText, Qt::black);
    palette.setColor(QPalette::Base, Qt::white);
    return palette;
}

void paintPage(QPainter& painter, QTextDocument& document, const QString& title, int page)
{
    const QSizeF size = document.pageSize();
    painter.save();
    painter.translate(0, -page * size.height());
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = paperPalette();
    context.clip = QRectF(0, page * size.height(), size.width(), size.height());
    painter.setClipRect(context.clip);
    document.documentLayout()->draw(&painter, context);
    painter.restore();
    QFont font = document.defaultFont();
    font.setPointSizeF(7.5);
    painter.setFont(font);
    painter.setPen(QColor(0x55, 0x5c, 0x66));
    const QRectF foot(0, size.height() + fromMm(3), size.width(), fromMm(kFootMm - 3));
    painter.drawText(foot, Qt::AlignLeft | Qt::AlignTop, title);
    painter.drawText(foot, Qt::AlignRight | Qt::AlignTop, QString("%1 / %2").arg(page + 1).arg(document.pageCount()));
}

bool paintPages(QPdfWriter& writer, const advisor::ReportModel& model)
{
    QTextDocument document;
    layOutReport(document, writer, model);
    QPainter painter;
    if (!painter.begin(&writer))
        return false;
    for (int page = 0; page < document.pageCount(); ++page) {
        if (page > 0 && !writer.newPage())
            return false;
        paintPage(painter, document, asQString(model.title), page);
    }
    return painter.end();
}

/// The layout starts a timer, which needs a thread of Qt with its event dispatcher.
bool paintAll(QPdfWriter& writer, const advisor::ReportModel& model)
{
    if (QAbstractEventDispatcher::instance())
        return paintPages(writer, model);
    bool painted = false;
    const std::unique_ptr<QThread> thread(QThread::create([&] { painted = paintPages(writer, model); }));
    thread->start();
    thread->wait();
    return painted;
}

} // namespace

void layOutReport(QTextDocument& document, QPagedPaintDevice& printer, const advisor::ReportModel& model)
{
    QFont font("sans-serif");
    font.setPointSizeF(9);
    document.setUndoRedoEnabled(false);
    document.documentLayout()->setPaintDevice(&printer);
    document.setDefaultFont(font);
    document.setDocumentMargin(0);
    document.setDefaultTextOption(QTextOption()); // breaks lines only between words
    document.setDefaultStyleSheet(kStyle);
    // The layout scales pixels of the screen to the resolution of the printer.
    const QScreen* screen = QGuiApplication::primaryScreen();
    const double layoutDpi = screen ? qRound(screen->logicalDotsPerInchY()) : 100;
    advisor::ReportModel shown = model;
    for (std::size_t i = 0; i < shown.figures.size(); ++i)
        replaceChart(document, shown.figures[i].chart, QString("chart:%1").arg(i),
                     static_cast<int>(printer.width() * layoutDpi / printer.logicalDpiX()));
    document.setHtml(asQString(htmlBody(shown)).replace("<table>", "<table width=\"100%\">"));
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        prepareLines(block);
    document.setPageSize(QSizeF(printer.width(), printer.height() - fromMm(kFootMm)));
    for (int turn = 0; turn < kMostTurns && keepHeadings(document); ++turn) {
    }
}

profiler::Result<void> writePdfReport(const std::filesystem::path& path, const advisor::ReportModel& model)
{
    QSaveFile file(QString::fromStdString(path.string()));
    bool written = file.open(QIODevice::WriteOnly);
    if (written) {
        QPdfWriter writer(&file);
        writer.setResolution(kDpi);
        writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Portrait,
                                         QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm),
                                         QPageLayout::Millimeter));
        writer.setTitle(asQString(model.title));
        writer.setCreator("Stepscope");
        written = paintAll(writer, model);
    }
    if (written && file.commit())
        return {};
    return profiler::fail<"report.pdf_unwritten", "The report cannot be written: {why}">(
        profiler::Error::Code::Io, path.string(), "choose a folder that exists and has free space",
        {{"why", file.errorString().toStdString()}});
}

} // namespace app
