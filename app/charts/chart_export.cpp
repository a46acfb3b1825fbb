#include "app/charts/chart_export.h"

#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "profiler/formats/csv/csv_text.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QMessageBox>
#include <QPainter>
#include <QPixmap>
#include <QSaveFile>
#include <QStringList>
#include <QSvgGenerator>
#include <QWidget>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("ChartExport", source);
}

/// At least twice the size on screen, for documents.
QImage chartImage(QWidget& chart)
{
    const double ratio = std::max(2.0, chart.devicePixelRatioF());
    QImage image((QSizeF(chart.size()) * ratio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(chart.palette().color(QPalette::Base));
    chart.render(&image, {}, {}, QWidget::DrawWindowBackground);
    return image;
}

QByteArray pngOf(QWidget& chart)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    chartImage(chart).save(&buffer, "PNG");
    return bytes;
}

void saveChart(QWidget& chart, const QString& stem, const std::function<QString()>& csv)
{
    const QString path = askWhereToSave(&chart, text("Save chart"), stem + QStringLiteral(".png"),
                                        {{text("PNG image (*.png)"), ".png"},
                                         {text("SVG image (*.svg)"), ".svg"},
                                         {text("Values as CSV (*.csv)"), ".csv"}});
    if (path.isEmpty())
        return;
    const QByteArray bytes = path.endsWith(".svg", Qt::CaseInsensitive)   ? chartSvg(chart)
                             : path.endsWith(".csv", Qt::CaseInsensitive) ? csv().toUtf8()
                                                                          : pngOf(chart);
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        QMessageBox::warning(&chart, text("Could not save the chart."), file.errorString());
}

} // namespace

QByteArray chartSvg(QWidget& chart)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(chart.size());
    generator.setViewBox(QRect(QPoint(0, 0), chart.size()));
    generator.setTitle(chart.accessibleName());
    QPainter painter(&generator);
    chart.render(&painter, {}, {}, {});
    painter.end();
    return bytes;
}

QString csvLine(const QStringList& cells)
{
    std::vector<std::string> texts;
    for (const QString& cell : cells)
        texts.push_back(cell.toStdString());
    std::string line;
    profiler::formats::writers::appendCsvRow(line, std::vector<std::string_view>(texts.begin(), texts.end()));
    return QString::fromStdString(line);
}

QList<QAction*> addChartExport(QWidget* chart, const QString& stem, std::function<QString()> csv)
{
    const auto add = [chart](const char* name, const QString& label, const char* iconStem, auto slot) {
        auto* action = new QAction(icon(QLatin1String(iconStem)), label, chart);
        action->setObjectName(QLatin1String(name));
        QObject::connect(action, &QAction::triggered, chart, slot);
        chart->addAction(action);
        return action;
    };
    const QList<QAction*> actions = {
        add("chartCopyImage", text("Copy image"), "copy",
            [chart] { QApplication::clipboard()->setImage(chartImage(*chart)); }),
        add("chartCopyValues", text("Copy values as CSV"), "copy",
            [csv] { QApplication::clipboard()->setText(csv()); }),
        add("chartSave", text("Save chart…"), "save", [chart, stem, csv] { saveChart(*chart, stem, csv); })};
    if (chart->contextMenuPolicy() == Qt::DefaultContextMenu)
        chart->setContextMenuPolicy(Qt::ActionsContextMenu);
    return actions;
}

} // namespace app
