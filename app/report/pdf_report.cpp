#include "app/report/pdf_report.h"

#include "app/report/report_document.h"

#include <QAbstractTextDocumentLayout>
#include <QPageLayout>
#include <QPainter>
#include <QPalette>
#include <QPdfWriter>
#include <QSaveFile>
#include <QTextDocument>

namespace app {

namespace {

constexpr int kDpi = 300;
constexpr double kMarginMm = 18, kFootMm = 10;

double fromMm(double mm)
{
    return mm / 25.4 * kDpi;
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

bool paintAll(QPdfWriter& writer, const advisor::ReportModel& model)
{
    QTextDocument document;
    QFont font("sans-serif");
    font.setPointSizeF(9);
    document.setUndoRedoEnabled(false);
    document.documentLayout()->setPaintDevice(&writer);
    document.setDefaultFont(font);
    document.setDocumentMargin(0);
    QTextOption wrapping;
    wrapping.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    document.setDefaultTextOption(wrapping);
    document.setPageSize(QSizeF(writer.width(), writer.height() - fromMm(kFootMm)));
    fillDocument(document, model);
    QPainter painter;
    if (!painter.begin(&writer))
        return false;
    const QString title = QString::fromStdString(model.title);
    for (int page = 0; page < document.pageCount(); ++page) {
        if (page > 0 && !writer.newPage())
            return false;
        paintPage(painter, document, title, page);
    }
    return painter.end();
}

} // namespace

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
        writer.setTitle(QString::fromStdString(model.title));
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
