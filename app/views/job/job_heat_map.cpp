#include "app/views/job/job_heat_map.h"

#include "app/charts/chart.h"
#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace app {

using profiler::analysis::JobRank;
using profiler::analysis::RankStep;
using profiler::analysis::RankTimePart;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobFigures)
};

constexpr double kLeastSpan = 0.05; ///< of the step time, see JobFigures::scale()

double busyShare(const RankStep& step)
{
    const auto busy = step.part(RankTimePart::Compute) + step.part(RankTimePart::Copy);
    const auto whole = step.range.duration();
    return whole.count() > 0 ? static_cast<double>(busy.count()) / static_cast<double>(whole.count()) : 0;
}

constexpr int kGap = 6, kRight = 10;
constexpr int kLegendWidth = 120, kLegendHeight = 10;
constexpr int kLeastForGrid = 8; ///< pixels: smaller cells have no lines between them

/// Cividis, which people with any kind of colour vision read alike. Source: Nuñez, Anderton, Renslow, "Optimizing
/// colormaps with consideration for color vision deficiency", 2018; at equal distances.
constexpr std::array<QRgb, 9> kColors = {0xff00224e, 0xff123570, 0xff3b496c, 0xff575d6d, 0xff707173,
                                         0xff8a8678, 0xffa59c74, 0xffc3b369, 0xfffee838};

/// @param share  [0, 1]
QColor heatColor(double share)
{
    const double place = std::clamp(share, 0.0, 1.0) * (kColors.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), kColors.size() - 2);
    return blend(QColor(kColors[below]), QColor(kColors[below + 1]), place - static_cast<double>(below));
}

/// The first pixel of one of `count` cells that share `pixels`: a pixel belongs to the cell pixel × count / pixels.
int firstPixel(int cell, int count, int pixels)
{
    return static_cast<int>((static_cast<qint64>(cell) * pixels + count - 1) / count);
}

/// The first of `count` items in one of `cells` cells: an item belongs to the cell item × cells / count.
std::size_t firstItem(int cell, int cells, std::size_t count)
{
    const auto all = static_cast<std::size_t>(cells);
    return (static_cast<std::size_t>(cell) * count + all - 1) / all;
}

/// Distance between labels so that they are at least `room` apart: 1, 2, 5, 10, 20 …
std::size_t labelStride(double apart, double room, bool powersOfTwo)
{
    std::size_t stride = 1;
    for (int i = 0; apart * static_cast<double>(stride) < room; ++i)
        stride = powersOfTwo ? stride * 2 : i % 3 == 1 ? stride / 2 * 5 : stride * 2;
    return stride;
}

QColor textOn(const QColor& fill)
{
    return contrastRatio(Qt::white, fill) >= contrastRatio(Qt::black, fill) ? Qt::white : Qt::black;
}

} // namespace

QString figureTitle(JobFigure figure)
{
    switch (figure) {
    case JobFigure::StepTime:
        return Texts::tr("Step time");
    case JobFigure::Waiting:
        return Texts::tr("Waiting");
    case JobFigure::Busy:
        return Texts::tr("Busy");
    case JobFigure::Lateness:
        break;
    }
    return Texts::tr("Lateness");
}

QString figureText(JobFigure figure, double value)
{
    if (!std::isfinite(value))
        return Texts::tr("not recorded");
    return figure == JobFigure::Busy ? formatShare(value) : formatUs(value);
}

JobFigures::JobFigures(std::shared_ptr<const profiler::job::Job> job)
    : m_job(std::move(job)), m_steps(profiler::analysis::jobSteps(m_job->ranks))
{
}

double JobFigures::value(JobFigure figure, std::size_t rank, std::size_t step) const
{
    const std::int32_t own = m_steps.own[rank][step];
    if (own < 0)
        return std::numeric_limits<double>::quiet_NaN();
    const JobRank& figures = m_job->analysis.ranks[rank];
    switch (figure) {
    case JobFigure::StepTime:
        return figures.stepByStepUs[step];
    case JobFigure::Waiting:
        return figures.waitByStepUs[step];
    case JobFigure::Busy:
        return busyShare(m_job->ranks[rank].steps[static_cast<std::size_t>(own)]);
    case JobFigure::Lateness:
        break;
    }
    // A rank without a collective in the step delays no other rank.
    const double late = figures.lateByStepUs[step];
    return std::isfinite(late) ? std::max(late, 0.0) : 0;
}

JobFigures::Scale JobFigures::scale(JobFigure figure) const
{
    if (figure == JobFigure::Busy)
        return {};
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (std::size_t rank = 0; rank < ranks(); ++rank)
        for (std::size_t step = 0; step < steps(); ++step)
            if (const double one = value(figure, rank, step); std::isfinite(one)) {
                low = std::min(low, one);
                high = std::max(high, one);
            }
    if (figure != JobFigure::StepTime || !std::isfinite(low))
        low = 0;
    return {low, std::max(high, low + std::max(kLeastSpan * m_job->analysis.stepUs, 1e-3))};
}

JobHeatMap::JobHeatMap(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Ranks and steps"));
    addChartExport(this, QStringLiteral("job"), [this] { return csv(); });
}

void JobHeatMap::setFigures(std::shared_ptr<const JobFigures> figures)
{
    m_figures = std::move(figures);
    m_current.reset();
    relayout();
}

void JobHeatMap::setFigure(JobFigure figure)
{
    m_figure = figure;
    relayout();
    setCurrent(m_current); // its description
}

void JobHeatMap::setCurrent(std::optional<Cell> cell)
{
    m_current = cell;
    setAccessibleDescription(cell ? describe(*cell) : QString());
    update();
}

QString JobHeatMap::rankText(std::size_t rank) const
{
    return QString::number(m_figures->job().ranks[rank].rank);
}

void JobHeatMap::relayout()
{
    m_image = {};
    m_peaks.clear();
    m_rows = m_columns = 0;
    m_plot = {};
    if (!isEmpty()) {
        const QFontMetrics metrics = fontMetrics();
        const int left = kGap +
                         std::max(metrics.horizontalAdvance(tr("Rank")),
                                  metrics.horizontalAdvance(rankText(m_figures->ranks() - 1))) +
                         kGap;
        const int top = metrics.height() * 3 / 2 + 2, below = 2 * metrics.height() + 10;
        m_plot = QRect(left, top, std::max(1, width() - left - kRight), std::max(1, height() - top - below));
        m_rows = static_cast<int>(std::min(m_figures->ranks(), static_cast<std::size_t>(m_plot.height())));
        m_columns = static_cast<int>(std::min(m_figures->steps(), static_cast<std::size_t>(m_plot.width())));
        m_scale = m_figures->scale(m_figure);
        findPeaks();
    }
    update();
}

void JobHeatMap::findPeaks()
{
    m_hasUnrecorded = false;
    m_peaks.resize(static_cast<std::size_t>(m_rows) * static_cast<std::size_t>(m_columns));
    for (int row = 0; row < m_rows; ++row)
        for (int column = 0; column < m_columns; ++column) {
            const Cell first{firstItem(row, m_rows, m_figures->ranks()),
                             firstItem(column, m_columns, m_figures->steps())};
            Peak& found = m_peaks[static_cast<std::size_t>(row * m_columns + column)];
            found = {std::nan(""), first};
            for (std::size_t rank = first.rank; rank < firstItem(row + 1, m_rows, m_figures->ranks()); ++rank)
                for (std::size_t step = first.step; step < firstItem(column + 1, m_columns, m_figures->steps());
                     ++step) {
                    const double value = m_figures->value(m_figure, rank, step);
                    if (!(value <= found.value) && std::isfinite(value))
                        found = {value, {rank, step}};
                }
            m_hasUnrecorded = m_hasUnrecorded || !std::isfinite(found.value);
        }
}

const JobHeatMap::Peak& JobHeatMap::peak(int row, int column) const
{
    return m_peaks[static_cast<std::size_t>(row * m_columns + column)];
}

double JobHeatMap::shareOf(double value) const
{
    return (value - m_scale.low) / (m_scale.high - m_scale.low);
}

int JobHeatMap::rowOf(std::size_t rank) const
{
    return static_cast<int>(rank * static_cast<std::size_t>(m_rows) / m_figures->ranks());
}

int JobHeatMap::columnOf(std::size_t step) const
{
    return static_cast<int>(step * static_cast<std::size_t>(m_columns) / m_figures->steps());
}

QRect JobHeatMap::cellRect(int row, int column) const
{
    const int left = firstPixel(column, m_columns, m_plot.width()), top = firstPixel(row, m_rows, m_plot.height());
    return {m_plot.left() + left, m_plot.top() + top, firstPixel(column + 1, m_columns, m_plot.width()) - left,
            firstPixel(row + 1, m_rows, m_plot.height()) - top};
}

QRect JobHeatMap::rectOf(Cell cell) const
{
    return isEmpty() ? QRect() : cellRect(rowOf(cell.rank), columnOf(cell.step));
}

QColor JobHeatMap::colorOf(Cell cell) const
{
    const double value = peak(rowOf(cell.rank), columnOf(cell.step)).value;
    return std::isfinite(value) ? heatColor(shareOf(value)) : QColor();
}

std::optional<JobHeatMap::Cell> JobHeatMap::cellAt(QPointF point) const
{
    const QPoint at = point.toPoint();
    if (isEmpty() || !m_plot.contains(at))
        return std::nullopt;
    const auto index = [](int pixel, int count, int pixels) {
        return static_cast<int>(static_cast<qint64>(pixel) * count / pixels);
    };
    return peak(index(at.y() - m_plot.top(), m_rows, m_plot.height()),
                index(at.x() - m_plot.left(), m_columns, m_plot.width()))
        .at;
}

QString JobHeatMap::describe(Cell cell) const
{
    if (isEmpty())
        return {};
    const auto& digest = m_figures->job().ranks[cell.rank];
    const auto number = [&] { return QString::number(m_figures->job().analysis.steps[cell.step]); };
    QString text = digest.host.empty()
                       ? tr("Rank %1, step %2").arg(rankText(cell.rank), number())
                       : tr("Rank %1 on %2, step %3").arg(rankText(cell.rank), asQString(digest.host), number());
    if (!std::isfinite(m_figures->value(JobFigure::StepTime, cell.rank, cell.step)))
        return tr("%1: not recorded").arg(text);
    const auto value = [&](JobFigure figure) {
        return figureText(figure, m_figures->value(figure, cell.rank, cell.step));
    };
    return tr("%1: %2 long, waits %3, busy %4, late by %5")
        .arg(text, value(JobFigure::StepTime), value(JobFigure::Waiting), value(JobFigure::Busy),
             value(JobFigure::Lateness));
}

QString JobHeatMap::csv() const
{
    QStringList heading{tr("Rank"), tr("Host"), tr("Step")};
    for (const JobFigure figure : kJobFigures)
        heading << figureTitle(figure) + (figure == JobFigure::Busy ? QString() : QStringLiteral(" (µs)"));
    QString lines = csvLine(heading);
    for (std::size_t rank = 0; !isEmpty() && rank < m_figures->ranks(); ++rank)
        for (std::size_t step = 0; step < m_figures->steps(); ++step) {
            QStringList cells{rankText(rank), asQString(m_figures->job().ranks[rank].host),
                              QString::number(m_figures->job().analysis.steps[step])};
            for (const JobFigure figure : kJobFigures) {
                const double value = m_figures->value(figure, rank, step);
                cells << (std::isfinite(value) ? QString::number(value, 'g', 9) : QString());
            }
            lines += csvLine(cells);
        }
    return lines;
}

void JobHeatMap::paintCells()
{
    m_image = QImage(m_plot.size(), QImage::Format_ARGB32_Premultiplied);
    std::vector<QRgb> line(static_cast<std::size_t>(m_plot.width()));
    for (int row = 0; row < m_rows; ++row) {
        for (int column = 0; column < m_columns; ++column) {
            const double value = peak(row, column).value;
            const QRgb color = std::isfinite(value) ? heatColor(shareOf(value)).rgb() : qRgba(0, 0, 0, 0);
            std::fill(line.begin() + firstPixel(column, m_columns, m_plot.width()),
                      line.begin() + firstPixel(column + 1, m_columns, m_plot.width()), color);
        }
        for (int y = firstPixel(row, m_rows, m_plot.height()); y < firstPixel(row + 1, m_rows, m_plot.height()); ++y)
            std::copy(line.begin(), line.end(), reinterpret_cast<QRgb*>(m_image.scanLine(y)));
    }
}

void JobHeatMap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.fillRect(rect(), theme.background);
    if (isEmpty()) {
        painter.setPen(theme.dimText);
        if (m_figures)
            painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, tr("The ranks have no steps in common."));
        return;
    }
    if (m_image.isNull())
        paintCells();
    painter.fillRect(m_plot, QBrush(theme.dimText, Qt::BDiagPattern)); // seen where nothing was recorded
    painter.drawImage(m_plot.topLeft(), m_image);
    paintGrid(painter);
    paintValues(painter);
    paintRanks(painter);
    paintSteps(painter);
    paintLegend(painter);
    paintCurrent(painter);
}

void JobHeatMap::paintGrid(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QRect first = cellRect(0, 0);
    painter.setPen(theme.background);
    for (int row = 1; first.height() >= kLeastForGrid && row < m_rows; ++row)
        painter.drawLine(m_plot.left(), cellRect(row, 0).top(), m_plot.right(), cellRect(row, 0).top());
    for (int column = 1; first.width() >= kLeastForGrid && column < m_columns; ++column)
        painter.drawLine(cellRect(0, column).left(), m_plot.top(), cellRect(0, column).left(), m_plot.bottom());
    painter.setPen(theme.border);
    painter.drawRect(m_plot.adjusted(-1, -1, 0, 0));
}

/// Writes the values into cells that are large enough, because colour alone is inexact.
void JobHeatMap::paintValues(QPainter& painter) const
{
    const QRect first = cellRect(0, 0);
    const QFontMetrics metrics = fontMetrics();
    if (first.height() < metrics.height() + 2 ||
        first.width() < metrics.horizontalAdvance(QStringLiteral("00.0 ms")) + 8)
        return;
    for (int row = 0; row < m_rows; ++row)
        for (int column = 0; column < m_columns; ++column) {
            const double value = peak(row, column).value;
            if (!std::isfinite(value) || value == 0) // zeros would only distract
                continue;
            painter.setPen(textOn(heatColor(shareOf(value))));
            painter.drawText(cellRect(row, column), Qt::AlignCenter, figureText(m_figure, value));
        }
}

void JobHeatMap::paintRanks(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QFontMetrics metrics = fontMetrics();
    const int width = m_plot.left() - kGap;
    const double apart = static_cast<double>(m_plot.height()) / static_cast<double>(m_figures->ranks());
    const std::size_t stride = labelStride(apart, metrics.height(), true);
    const auto label = [&](std::size_t rank) {
        const QRect row = cellRect(rowOf(rank), 0);
        QRect place(0, row.center().y() - metrics.height() / 2, width, metrics.height());
        place.moveBottom(std::min(place.bottom(), m_plot.bottom() + metrics.height() / 2));
        return place;
    };
    painter.setPen(theme.dimText);
    painter.drawText(QRect(0, 1, width, metrics.height()), Qt::AlignRight | Qt::AlignVCenter, tr("Rank"));
    const QRect current = m_current ? label(m_current->rank) : QRect();
    for (std::size_t rank = 0; rank < m_figures->ranks(); rank += stride)
        if (!label(rank).intersects(current))
            painter.drawText(label(rank), Qt::AlignRight | Qt::AlignVCenter, rankText(rank));
    if (m_current) {
        painter.setPen(theme.text);
        painter.drawText(current, Qt::AlignRight | Qt::AlignVCenter, rankText(m_current->rank));
    }
}

void JobHeatMap::paintSteps(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QFontMetrics metrics = fontMetrics();
    const auto& numbers = m_figures->job().analysis.steps;
    const int wide = metrics.horizontalAdvance(QString::number(numbers.back())) + 8;
    const double apart = static_cast<double>(m_plot.width()) / static_cast<double>(numbers.size());
    const std::size_t stride = labelStride(apart, wide, false);
    const int top = m_plot.bottom() + 3;
    const auto label = [&](std::size_t step) {
        const QRect column = cellRect(0, columnOf(step));
        return QRect(column.center().x() - wide / 2, top, wide, metrics.height());
    };
    painter.setPen(theme.dimText);
    painter.drawText(QRect(0, top, m_plot.left() - kGap, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                     tr("Step"));
    const QRect current = m_current ? label(m_current->step) : QRect();
    for (std::size_t step = 0; step < numbers.size(); step += stride)
        if (!label(step).intersects(current))
            painter.drawText(label(step), Qt::AlignCenter, QString::number(numbers[step]));
    if (m_current) {
        painter.setPen(theme.text);
        painter.drawText(current, Qt::AlignCenter, QString::number(numbers[m_current->step]));
    }
}

void JobHeatMap::paintLegend(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QFontMetrics metrics = fontMetrics();
    const int top = height() - metrics.height() - 3;
    int x = m_plot.left();
    const auto write = [&](const QString& text) {
        painter.setPen(theme.dimText);
        const QString shown = metrics.elidedText(text, Qt::ElideRight, std::max(0, width() - x - kRight));
        painter.drawText(QRect(x, top, width() - x, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, shown);
        x += metrics.horizontalAdvance(shown) + kGap;
    };
    const auto box = [&](int wide) {
        const QRect area(x, top + (metrics.height() - kLegendHeight) / 2, wide, kLegendHeight);
        x += wide + kGap;
        return area;
    };
    write(figureTitle(m_figure));
    write(figureText(m_figure, m_scale.low));
    const QRect scale = box(kLegendWidth);
    for (int i = 0; i < scale.width(); ++i)
        painter.fillRect(scale.left() + i, scale.top(), 1, scale.height(), heatColor(i / double(scale.width() - 1)));
    write(figureText(m_figure, m_scale.high));
    if (m_hasUnrecorded) {
        x += kGap;
        const QRect hatch = box(kLegendHeight);
        painter.fillRect(hatch, QBrush(theme.dimText, Qt::BDiagPattern));
        write(tr("not recorded"));
    }
    if (static_cast<std::size_t>(m_rows) < m_figures->ranks() ||
        static_cast<std::size_t>(m_columns) < m_figures->steps()) {
        x += kGap;
        write(tr("The largest value of the ranks and steps that share a pixel"));
    }
}

void JobHeatMap::paintCurrent(QPainter& painter) const
{
    if (!m_current)
        return;
    QRect cell = rectOf(*m_current);
    // Cells can be as small as a pixel.
    cell.adjust(cell.width() < 5 ? -2 : 0, cell.height() < 5 ? -2 : 0, cell.width() < 5 ? 2 : 0,
                cell.height() < 5 ? 2 : 0);
    painter.setBrush(Qt::NoBrush);
    // Two lines of different lightness are visible on each colour of the scale.
    painter.setPen(QPen(Qt::black, 1));
    painter.drawRect(cell.adjusted(1, 1, -2, -2));
    painter.setPen(QPen(hasFocus() ? TimelineTheme::from(palette()).accent : QColor(Qt::white), 2));
    painter.drawRect(cell.adjusted(0, 0, -1, -1).adjusted(-1, -1, 1, 1));
}

void JobHeatMap::resizeEvent(QResizeEvent*)
{
    relayout();
}

void JobHeatMap::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        relayout();
}

void JobHeatMap::mouseMoveEvent(QMouseEvent* event)
{
    const auto cell = cellAt(event->position());
    if (cell)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), describe(*cell), this, rectOf(*cell));
    else
        QToolTip::hideText();
}

void JobHeatMap::mousePressEvent(QMouseEvent* event)
{
    if (const auto cell = cellAt(event->position()); cell && event->button() == Qt::LeftButton)
        emit chosen(cell->rank, cell->step);
}

void JobHeatMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto cell = cellAt(event->position()); cell && event->button() == Qt::LeftButton)
        emit opened(cell->rank, cell->step);
}

void JobHeatMap::moveBy(std::ptrdiff_t ranks, std::ptrdiff_t steps)
{
    const auto within = [](std::size_t at, std::ptrdiff_t by, std::size_t count) {
        return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at) + by, 0,
                                                                   static_cast<std::ptrdiff_t>(count) - 1));
    };
    const Cell from = m_current.value_or(Cell{});
    emit chosen(within(from.rank, ranks, m_figures->ranks()), within(from.step, steps, m_figures->steps()));
}

void JobHeatMap::keyPressEvent(QKeyEvent* event)
{
    if (isEmpty())
        return QWidget::keyPressEvent(event);
    const auto ranks = static_cast<std::ptrdiff_t>(m_figures->ranks());
    const auto steps = static_cast<std::ptrdiff_t>(m_figures->steps());
    const std::ptrdiff_t page = std::max<std::ptrdiff_t>(1, ranks / 10);
    switch (event->key()) {
    case Qt::Key_Left:
        return moveBy(0, -1);
    case Qt::Key_Right:
        return moveBy(0, 1);
    case Qt::Key_Up:
        return moveBy(-1, 0);
    case Qt::Key_Down:
        return moveBy(1, 0);
    case Qt::Key_PageUp:
        return moveBy(-page, 0);
    case Qt::Key_PageDown:
        return moveBy(page, 0);
    case Qt::Key_Home:
        return event->modifiers() & Qt::ControlModifier ? moveBy(-ranks, 0) : moveBy(0, -steps);
    case Qt::Key_End:
        return event->modifiers() & Qt::ControlModifier ? moveBy(ranks, 0) : moveBy(0, steps);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current)
            emit opened(m_current->rank, m_current->step);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void JobHeatMap::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void JobHeatMap::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

} // namespace app
