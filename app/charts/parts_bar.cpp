#include "app/charts/parts_bar.h"

#include "app/charts/chart_export.h"
#include "app/look/number_format.h"
#include "app/look/swatch.h"
#include "app/look/timeline_theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

namespace app {

PartsBar::PartsBar(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Where the time of a steady step goes"));
    addChartExport(this, QStringLiteral("parts"), [this] {
        QString lines = csvLine({tr("Part"), tr("Share")});
        for (const Part& part : m_parts)
            lines += csvLine({part.name, QString::number(part.share, 'g', 9)});
        return lines;
    });
}

void PartsBar::setParts(std::vector<Part> parts)
{
    m_parts = std::move(parts);
    QStringList words;
    for (const Part& part : m_parts)
        words << part.name + u' ' + formatShare(part.share);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

void PartsBar::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    const QFontMetricsF metrics(font());
    double sum = 0;
    for (const Part& part : m_parts) {
        const double left = std::round(sum * width());
        sum += part.share;
        const double right = std::round(sum * width());
        const QRectF rect(left, 0, right - left - (right - left > 3 ? 1 : 0), height());
        if (rect.width() < 1)
            continue;
        fillAs(painter, rect, part.which, theme.dark);
        painter.setPen(classStyle(part.which, theme.dark).text);
        const QString share = formatShare(part.share);
        const QString both = part.name + QStringLiteral("  ") + share;
        for (const QString& text : {both, share})
            if (metrics.horizontalAdvance(text) + 10 < rect.width()) {
                painter.drawText(rect.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
                break;
            }
    }
}

int PartsBar::partAt(double x) const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        sum += m_parts[i].share;
        if (x < sum * width())
            return static_cast<int>(i);
    }
    return -1;
}

void PartsBar::mouseMoveEvent(QMouseEvent* event)
{
    const int part = partAt(event->position().x());
    if (part >= 0)
        QToolTip::showText(event->globalPosition().toPoint(), m_parts[static_cast<std::size_t>(part)].tip, this);
}

void PartsBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const int part = partAt(event->position().x());
    if (part >= 0)
        emit partChosen(part);
}

} // namespace app
