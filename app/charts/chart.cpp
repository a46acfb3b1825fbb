#include "app/charts/chart.h"

#include "app/charts/time_axis.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "profiler/formats/csv/csv_text.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QFontMetricsF>
#include <QHelpEvent>
#include <QMessageBox>
#include <QPainter>
#include <QPixmap>
#include <QSaveFile>
#include <QStringList>
#include <QSvgGenerator>
#include <QToolTip>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

namespace {

constexpr double kLineSpacing = 26;   ///< minimum pixels between two horizontal lines
constexpr double kNumberSpacing = 70; ///< minimum pixels between two step numbers

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

QString tickLabel(double us, double stepUs, double topUs)
{
    const double unit = topUs >= 2e6 ? 1e6 : topUs >= 2e3 ? 1e3 : 1;
    const char* name = unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "µs";
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(stepUs / unit) + 1e-9)));
    return formatFixed(us / unit, decimals) + u' ' + QString::fromUtf8(name);
}

int ChartFrame::stepAt(double x) const
{
    if (steps == 0)
        return -1;
    return std::clamp(static_cast<int>(std::floor((x - plot.left()) / plot.width() * steps)), 0, steps - 1);
}

std::vector<int> ChartFrame::numbered(std::span<const profiler::analysis::Step> shown) const
{
    const std::int64_t every = niceStep(kNumberSpacing * steps / std::max(1.0, plot.width()));
    const auto roundBefore = [every](std::int64_t number) {
        return (number - (number % every + every) % every) / every;
    };
    std::vector<int> found;
    for (int i = 0; i < static_cast<int>(shown.size()); ++i) {
        const std::int64_t number = shown[static_cast<std::size_t>(i)].index;
        const bool passes = i == 0 ? number % every == 0
                                   : roundBefore(shown[static_cast<std::size_t>(i) - 1].index) < roundBefore(number);
        if (passes && (found.empty() || xOf(i) - xOf(found.back()) >= kNumberSpacing - 1))
            found.push_back(i);
    }
    return found;
}

void ChartFrame::paint(QPainter& painter, const TimelineTheme& theme,
                       std::span<const profiler::analysis::Step> shown) const
{
    const QFontMetricsF metrics(painter.font());
    const auto lines = valueTicks(topUs, static_cast<int>(plot.height() / kLineSpacing));
    const double stepUs = lines.size() > 1 ? lines[1] : topUs;
    for (const double us : lines) {
        const double y = std::round(yOf(us));
        painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), us == 0 ? theme.border : theme.grid);
        painter.setPen(theme.dimText);
        painter.drawText(QRectF(0, y - metrics.height() / 2, plot.left() - 8, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, tickLabel(us, stepUs, topUs));
    }
    if (steps == 0)
        return;
    for (const int step : numbered(shown)) {
        const double x = xOf(step + 0.5);
        const QString text = formatCount(shown[static_cast<std::size_t>(step)].index);
        const double width = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - width / 2, plot.left(), std::max(plot.left(), plot.right() - width));
        painter.fillRect(QRectF(std::round(x), plot.bottom() + 1, 1, 3), theme.border);
        painter.drawText(QPointF(left, plot.bottom() + 4 + metrics.ascent()), text);
    }
}

void showTip(const QHelpEvent& event, const QString& tip, QWidget* chart)
{
    if (tip.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event.globalPos(), Qt::convertFromPlainText(tip, Qt::WhiteSpaceNormal), chart);
}

double chartTop(double us)
{
    return us > 0 ? us * 1.08 : 1;
}

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
