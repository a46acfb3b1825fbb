#include "app/views/memory/memory_chart.h"

#include "app/look/display_text.h"
#include "app/look/theme.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::analysis::MemorySample;

namespace {

constexpr double kSwatch = 12, kLegendGap = 16, kLineSpacing = 26, kHeadroom = 1.12;
constexpr int kLow = 170; ///< pixels below which two lines of legend take too much of the height

/// All ticks of an axis have the same unit and number of decimals.
QString tickLabel(double bytes, double step, double top)
{
    struct Unit {
        double size;
        const char* name;
    };
    constexpr Unit kUnits[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    const Unit& unit =
        *std::find_if(std::begin(kUnits), std::end(kUnits) - 1, [&](const Unit& u) { return top >= u.size; });
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit.size) + 1e-9)));
    return formatFixed(bytes / unit.size, decimals) + u' ' + QString::fromUtf8(unit.name);
}

} // namespace

MemoryChart::MemoryChart(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Memory over time"));
}

void MemoryChart::setMemory(std::shared_ptr<const profiler::analysis::DeviceMemory> memory, profiler::TimeRange range)
{
    m_memory = std::move(memory);
    m_range = range;
    m_used.clear();
    m_top = 1;
    m_cursor.reset();
    if (m_memory && !m_memory->samples.empty()) {
        std::array<bool, profiler::analysis::kMemoryCategories> used{};
        for (const MemorySample& sample : m_memory->samples) {
            m_top = std::max(m_top, static_cast<double>(sample.total()));
            for (std::size_t i = 0; i < used.size(); ++i)
                used[i] = used[i] || sample.bytes[i] > 0;
        }
        for (const MemoryCategory category : kMemoryOrder)
            if (used[static_cast<std::size_t>(category)])
                m_used.push_back(category);
        const auto first = m_memory->samples.front().time, last = m_memory->samples.back().time;
        m_range.begin = m_range.empty() ? first : std::min(m_range.begin, first);
        m_range.end = std::max({m_range.end, last, m_range.begin + profiler::Nanoseconds{1000}});
    }
    m_top *= kHeadroom;
    m_painted = {};
    update();
}

void MemoryChart::setMark(std::optional<profiler::TraceTime> time, const QString& label)
{
    m_mark = time;
    m_markLabel = label;
    m_painted = {};
    update();
}

MemoryChart::Layout MemoryChart::layOut(QSize size) const
{
    const QFontMetricsF metrics(font());
    Layout layout;
    double widest = 0, all = 8;
    for (const MemoryCategory category : m_used) {
        const double width = kSwatch + 5 + metrics.horizontalAdvance(memoryCategoryTitle(category));
        widest = std::max(widest, width);
        all += width + kLegendGap;
    }
    double top = 8, right = size.width() - 10.0;
    const double line = metrics.height() + 2;
    const auto add = [&](double x, double y) {
        layout.legend.push_back({m_used[layout.legend.size()], {x, y + (metrics.height() - kSwatch) / 2}});
    };
    if (all > size.width() && size.height() < kLow) { // in a low chart, the legend is on the right
        const auto rows = std::max<std::size_t>(static_cast<std::size_t>((size.height() - 8) / line), 1);
        const std::size_t columns = (m_used.size() + rows - 1) / rows;
        right -= static_cast<double>(columns) * (widest + kLegendGap) - 4;
        for (std::size_t i = 0; i < m_used.size(); ++i)
            add(right + kLegendGap + static_cast<double>(i / rows) * (widest + kLegendGap),
                4 + static_cast<double>(i % rows) * line);
    } else {
        double x = 8, y = 5;
        for (const MemoryCategory category : m_used) {
            const double width = kSwatch + 5 + metrics.horizontalAdvance(memoryCategoryTitle(category));
            if (x > 8 && x + width > size.width() - 6) {
                x = 8;
                y += line;
            }
            add(x, y);
            x += width + kLegendGap;
        }
        top = y + metrics.height() + 5;
    }
    const double left = 12 + metrics.horizontalAdvance(QStringLiteral("0000 MB"));
    layout.plot = QRectF(QPointF(left, top),
                         QPointF(std::max(left + 10, right), std::max(top + 10, size.height() - metrics.height() - 7)));
    if (m_memory && !m_memory->samples.empty()) {
        layout.axis.setWidth(layout.plot.width());
        layout.axis.setBounds(m_range);
        const auto first = m_memory->samples.front().time;
        layout.axis.show({first, std::max(m_memory->samples.back().time, first + profiler::Nanoseconds{1000})}, 1);
    }
    return layout;
}

double MemoryChart::yOf(const QRectF& plot, double bytes) const
{
    return plot.bottom() - plot.height() * bytes / m_top;
}

std::optional<std::size_t> MemoryChart::sampleAt(double x) const
{
    if (!m_memory || m_memory->samples.empty())
        return std::nullopt;
    const Layout layout = layOut(size());
    if (x < layout.plot.left() - 1 || x > layout.plot.right() + 1)
        return std::nullopt;
    const auto& samples = m_memory->samples;
    const auto time = layout.axis.timeAt(x - layout.plot.left());
    const auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                        [](profiler::TraceTime at, const MemorySample& s) { return at < s.time; });
    // Of the samples within a pixel, the one with the most memory is what the eye sees.
    auto best = after == samples.begin() ? after : std::prev(after);
    const auto from = layout.axis.timeAt(x - layout.plot.left() - 0.5);
    for (auto sample = best; sample != samples.begin() && std::prev(sample)->time >= from;) {
        --sample;
        if (sample->total() > best->total())
            best = sample;
    }
    return static_cast<std::size_t>(best - samples.begin());
}

QString MemoryChart::describe(std::size_t index) const
{
    const MemorySample& sample = m_memory->samples[index];
    QStringList lines{formatPosition(sample.time - m_range.begin)};
    const auto line = [&](const QString& name, std::int64_t bytes) {
        lines << tr("%1: %2").arg(name, formatBytes(static_cast<double>(bytes)));
    };
    line(tr("Allocated"), sample.allocated());
    if (m_memory->hasReserved)
        line(tr("Reserved"), sample.total());
    if (m_used.size() > 1)
        for (auto category = m_used.rbegin(); category != m_used.rend(); ++category)
            if (sample.of(*category) > 0)
                line(memoryCategoryTitle(*category), sample.of(*category));
    return lines.join('\n');
}

void MemoryChart::paintAxes(QPainter& painter, const Layout& layout) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QFontMetricsF metrics(font());
    const QRectF& plot = layout.plot;
    const auto lines = valueTicks(m_top, static_cast<int>(plot.height() / kLineSpacing));
    const double step = lines.size() > 1 ? lines[1] : m_top;
    for (const double bytes : lines) {
        const double y = std::round(yOf(plot, bytes));
        painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), bytes == 0 ? theme.border : theme.grid);
        painter.setPen(theme.dimText);
        painter.drawText(QRectF(0, y - metrics.height() / 2, plot.left() - 6, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, tickLabel(bytes, step, m_top));
    }
    for (const AxisTick& tick : axisTicks(layout.axis)) {
        const double x = plot.left() + layout.axis.xOf(tick.time);
        if (x < plot.left() - 0.5 || x > plot.right() + 0.5)
            continue;
        painter.fillRect(QRectF(std::round(x), plot.bottom() + 1, 1, 3), theme.border);
        const double width = metrics.horizontalAdvance(tick.label);
        const double left = std::clamp(x - width / 2, 0.0, std::max(0.0, plot.right() + 8 - width));
        painter.setPen(theme.dimText);
        painter.drawText(QPointF(left, plot.bottom() + 4 + metrics.ascent()), tick.label);
    }
}

void MemoryChart::paintAreas(QPainter& painter, const Layout& layout) const
{
    const bool dark = TimelineTheme::from(palette()).dark;
    const auto& samples = m_memory->samples;
    std::vector<double> x(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i)
        x[i] = layout.plot.left() + layout.axis.xOf(samples[i].time);
    std::vector<std::int64_t> below(samples.size(), 0);
    painter.save();
    painter.setClipRect(layout.plot.adjusted(0, 0, 1, 0));
    for (const MemoryCategory category : m_used) {
        // A value holds until the next sample.
        QPolygonF upper, lower;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const double end = i + 1 < samples.size() ? x[i + 1] : layout.plot.right() + 1;
            const double bottom = yOf(layout.plot, static_cast<double>(below[i]));
            below[i] += samples[i].of(category);
            const double top = yOf(layout.plot, static_cast<double>(below[i]));
            upper << QPointF(x[i], top) << QPointF(end, top);
            lower << QPointF(x[i], bottom) << QPointF(end, bottom);
        }
        std::reverse(lower.begin(), lower.end());
        QPainterPath path;
        path.addPolygon(upper + lower);
        path.closeSubpath();
        painter.save();
        painter.setClipPath(path, Qt::IntersectClip);
        fillMemory(painter, layout.plot.adjusted(0, 0, 1, 0), category, dark);
        painter.restore();
        painter.setPen(QPen(classStyle(memoryClass(category), dark).edge, 1));
        painter.drawPolyline(upper);
    }
    painter.restore();
}

void MemoryChart::paintMark(QPainter& painter, const Layout& layout) const
{
    if (!m_mark)
        return;
    const double x = std::round(layout.plot.left() + layout.axis.xOf(*m_mark));
    if (x < layout.plot.left() - 1 || x > layout.plot.right() + 1)
        return;
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QFontMetricsF metrics(font());
    QPen pen(theme.text, 1, Qt::DashLine);
    painter.setPen(pen);
    painter.drawLine(QPointF(x + 0.5, layout.plot.top()), QPointF(x + 0.5, layout.plot.bottom()));
    const double width = metrics.horizontalAdvance(m_markLabel);
    const bool left = x + 5 + width > layout.plot.right();
    const QRectF box(left ? x - 7 - width : x + 4, layout.plot.top(), width + 4, metrics.height());
    QColor under = theme.background;
    under.setAlphaF(0.85F);
    painter.fillRect(box, under);
    painter.setPen(theme.text);
    painter.drawText(QPointF(box.left() + 2, box.top() + metrics.ascent()), m_markLabel);
}

void MemoryChart::paintAll(QPainter& painter, QSize size) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    if (!m_memory || m_memory->samples.empty())
        return;
    painter.setFont(font());
    const Layout layout = layOut(size);
    const QFontMetricsF metrics(font());
    for (const LegendEntry& entry : layout.legend) {
        fillMemory(painter, QRectF(entry.at, QSizeF(kSwatch, kSwatch)), entry.category, theme.dark);
        painter.setPen(classStyle(memoryClass(entry.category), theme.dark).edge);
        painter.drawRect(QRectF(entry.at, QSizeF(kSwatch - 1, kSwatch - 1)));
        painter.setPen(theme.text);
        painter.drawText(
            QPointF(entry.at.x() + kSwatch + 5, entry.at.y() - (metrics.height() - kSwatch) / 2 + metrics.ascent()),
            memoryCategoryTitle(entry.category));
    }
    paintAxes(painter, layout);
    paintAreas(painter, layout);
    paintMark(painter, layout);
}

void MemoryChart::render(QPainter& painter, QSize size)
{
    paintAll(painter, size);
}

void MemoryChart::paintEvent(QPaintEvent*)
{
    const double ratio = devicePixelRatioF();
    if (m_painted.size() != size() * ratio || m_painted.devicePixelRatio() != ratio) {
        m_painted = QPixmap(size() * ratio);
        m_painted.setDevicePixelRatio(ratio);
        QPainter painter(&m_painted);
        paintAll(painter, size());
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_painted);
    const TimelineTheme theme = TimelineTheme::from(palette());
    if (m_cursor) {
        const Layout layout = layOut(size());
        const double x = layout.plot.left() + layout.axis.xOf(m_memory->samples[*m_cursor].time);
        painter.setPen(QPen(theme.accent, hasFocus() ? 2 : 1));
        painter.drawLine(QPointF(x, layout.plot.top()), QPointF(x, layout.plot.bottom()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

QString MemoryChart::csv() const
{
    QString text = QStringLiteral("time (s)");
    if (!m_memory)
        return text;
    for (const MemoryCategory category : kMemoryOrder)
        text += QStringLiteral(",%1 (bytes)").arg(asQString(memoryCategoryName(category)));
    text += u'\n';
    for (const MemorySample& sample : m_memory->samples) {
        text += QString::number(static_cast<double>((sample.time - m_range.begin).count()) / 1e9, 'f', 9);
        for (const MemoryCategory category : kMemoryOrder)
            text += u',' + QString::number(sample.of(category));
        text += u'\n';
    }
    return text;
}

void MemoryChart::moveCursor(std::optional<std::size_t> sample)
{
    if (sample == m_cursor)
        return;
    m_cursor = sample;
    setAccessibleDescription(m_cursor ? describe(*m_cursor) : QString());
    update();
}

void MemoryChart::mouseMoveEvent(QMouseEvent* event)
{
    const auto sample = layOut(size()).plot.adjusted(-1, -1, 1, 1).contains(event->position())
                            ? sampleAt(event->position().x())
                            : std::nullopt;
    moveCursor(sample);
    if (sample)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), describe(*sample), this);
    else
        QToolTip::hideText();
}

void MemoryChart::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (const auto sample = sampleAt(event->position().x())) {
        moveCursor(sample);
        emit timeChosen(m_memory->samples[*sample].time);
    }
}

void MemoryChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_memory || m_memory->samples.empty())
        return QWidget::keyPressEvent(event);
    const std::size_t last = m_memory->samples.size() - 1, now = m_cursor.value_or(0);
    switch (event->key()) {
    case Qt::Key_Left:
        moveCursor(now > 0 ? now - 1 : 0);
        break;
    case Qt::Key_Right:
        moveCursor(m_cursor ? std::min(now + 1, last) : 0);
        break;
    case Qt::Key_Home:
        moveCursor(0);
        break;
    case Qt::Key_End:
        moveCursor(last);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_cursor)
            emit timeChosen(m_memory->samples[*m_cursor].time);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void MemoryChart::leaveEvent(QEvent*)
{
    if (!hasFocus())
        moveCursor({});
}

void MemoryChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        m_painted = {};
        update();
    }
}

} // namespace app
