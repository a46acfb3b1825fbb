#include "app/findings/interval_bar.h"

#include "app/document/finding_text.h"
#include "app/look/theme.h"

#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

namespace app {

namespace {

constexpr std::array kReaches = {1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0};

double reachFor(const advisor::Interval& ratio)
{
    const double farthest =
        std::max({std::abs(std::log(std::max(ratio.low, 1e-3))), std::abs(std::log(std::max(ratio.high, 1e-3)))});
    const auto found =
        std::find_if(kReaches.begin(), kReaches.end(), [&](double reach) { return std::log(reach) > farthest; });
    return found == kReaches.end() ? kReaches.back() : *found;
}

} // namespace

IntervalBar::IntervalBar(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize IntervalBar::sizeHint() const
{
    return {160, 14 + fontMetrics().height()};
}

void IntervalBar::show(const std::optional<advisor::Interval>& ratio)
{
    m_ratio = ratio;
    if (ratio) {
        const double reach = reachFor(*ratio);
        m_reach = m_reach == 0 ? reach : std::min(m_reach, reach);
        setAccessibleDescription(ratioText(*ratio));
    } else {
        m_reach = 0;
    }
    update();
}

double IntervalBar::position(double ratio) const
{
    return std::clamp(0.5 + 0.5 * std::log(std::max(ratio, 1e-3)) / std::log(m_reach), 0.0, 1.0);
}

void IntervalBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Shades tones = shades(palette());
    const QRectF bar(1, 1, width() - 2, 10);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Midlight));
    painter.drawRoundedRect(bar, 3, 3);
    const auto x = [&](double ratio) { return bar.left() + bar.width() * position(ratio); };
    if (m_ratio && m_reach > 1) {
        const bool faster = m_ratio->low > 1.01, slower = m_ratio->high < 0.99;
        const QColor tone = faster ? tones.good : slower ? tones.bad : tones.muted;
        QColor wash = tone;
        wash.setAlphaF(0.45F);
        painter.setBrush(wash);
        painter.drawRoundedRect(QRectF(QPointF(x(m_ratio->low), bar.top()), QPointF(x(m_ratio->high), bar.bottom())), 2,
                                2);
        painter.fillRect(QRectF(x(m_ratio->value) - 1, bar.top() - 1, 2, bar.height() + 2), tone);
        painter.setPen(tones.muted);
        const QRectF text(0, bar.bottom() + 1, width(), height() - bar.bottom() - 1);
        painter.drawText(text, Qt::AlignLeft, QString("%1 ×").arg(1 / m_reach, 0, 'g', 2));
        painter.drawText(text, Qt::AlignRight, QString("%1 ×").arg(m_reach, 0, 'g', 3));
        painter.drawText(text, Qt::AlignHCenter, tr("no difference"));
    }
    painter.fillRect(QRectF(bar.center().x() - 0.5, bar.top(), 1, bar.height()), palette().color(QPalette::WindowText));
}

} // namespace app
