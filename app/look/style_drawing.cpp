#include "app/look/style_drawing.h"

#include "app/look/theme.h"

#include <QPainter>
#include <QStyleOption>
#include <algorithm>

namespace app {

namespace {
constexpr qreal kRadius = 4;
} // namespace

void drawButton(const QStyleOption* option, QPainter* painter, const QWidget* widget)
{
    const QPalette& palette = option->palette;
    const bool enabled = option->state.testFlag(QStyle::State_Enabled);
    const bool primary = enabled && widget && widget->property("primary").toBool();
    const bool down = option->state & (QStyle::State_Sunken | QStyle::State_On);
    const bool hover = enabled && option->state.testFlag(QStyle::State_MouseOver);
    const QColor accent = palette.color(QPalette::Highlight);
    QColor fill = primary ? accent : palette.color(QPalette::Button);
    const QColor tint = primary ? QColor(Qt::black) : palette.color(QPalette::ButtonText);
    if (!enabled)
        fill = palette.color(QPalette::Window);
    else if (down || hover)
        fill = blend(fill, tint, down ? 0.14 : 0.06);
    QColor border = primary ? fill : palette.color(QPalette::Mid);
    if (option->state.testFlag(QStyle::State_HasFocus) && option->state.testFlag(QStyle::State_KeyboardFocusChange))
        border = primary ? palette.color(QPalette::WindowText) : accent;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(border);
    painter->setBrush(fill);
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    painter->restore();
}

void drawToolButton(const QStyleOption* option, QPainter* painter)
{
    const bool down = option->state & (QStyle::State_Sunken | QStyle::State_On);
    const bool hover = option->state.testFlag(QStyle::State_MouseOver) && option->state.testFlag(QStyle::State_Enabled);
    const bool focus =
        option->state.testFlag(QStyle::State_HasFocus) && option->state.testFlag(QStyle::State_KeyboardFocusChange);
    if (!down && !hover && !focus)
        return;
    QColor fill = option->palette.color(QPalette::WindowText);
    fill.setAlphaF(down ? 0.16F : hover ? 0.08F : 0.0F);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(focus ? QPen(option->palette.color(QPalette::Highlight)) : QPen(Qt::NoPen));
    painter->setBrush(fill);
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    painter->restore();
}

void drawLineEdit(const QStyleOption* option, QPainter* painter, const QWidget* widget)
{
    const bool refused = widget && widget->property("refused").toBool();
    QColor border = option->palette.color(QPalette::Mid);
    if (refused)
        border = shades(option->palette).bad;
    else if (option->state.testFlag(QStyle::State_HasFocus))
        border = option->palette.color(QPalette::Highlight);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(border);
    painter->setBrush(option->palette.color(QPalette::Base));
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
    painter->restore();
}

void drawSpinBox(const QStyleOptionSpinBox& option, QPainter* painter, const QWidget* widget, const QRect& up,
                 const QRect& down)
{
    drawLineEdit(&option, painter, widget);
    const auto drawArrow = [&](const QRect& button, QStyle::SubControl part, QAbstractSpinBox::StepEnabledFlag step) {
        const bool can = option.state.testFlag(QStyle::State_Enabled) && option.stepEnabled.testFlag(step);
        const bool on = can && option.activeSubControls == part;
        QColor color = option.palette.color(can ? QPalette::Active : QPalette::Disabled, QPalette::ButtonText);
        if (!on)
            color.setAlphaF(can ? 0.65F : 0.4F);
        const QPointF centre = QRectF(button).center();
        const double tip = step == QAbstractSpinBox::StepUpEnabled ? -2 : 2;
        painter->setBrush(color);
        painter->drawPolygon(
            QPolygonF{centre + QPointF(-3.5, -tip), centre + QPointF(3.5, -tip), centre + QPointF(0, tip)});
    };
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    drawArrow(up, QStyle::SC_SpinBoxUp, QAbstractSpinBox::StepUpEnabled);
    drawArrow(down, QStyle::SC_SpinBoxDown, QAbstractSpinBox::StepDownEnabled);
    painter->restore();
}

void drawCheckBox(const QStyleOption* option, QPainter* painter)
{
    const bool checked = option->state.testFlag(QStyle::State_On);
    const bool enabled = option->state.testFlag(QStyle::State_Enabled);
    const QPalette& palette = option->palette;
    const QColor accent = palette.color(enabled ? QPalette::Active : QPalette::Disabled, QPalette::Highlight);
    const bool focus =
        option->state.testFlag(QStyle::State_HasFocus) && option->state.testFlag(QStyle::State_KeyboardFocusChange);
    QColor border = blend(palette.color(QPalette::Window), palette.color(QPalette::WindowText), enabled ? 0.4 : 0.2);
    if (checked || focus)
        border = accent;
    const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(border);
    painter->setBrush(checked ? accent : palette.color(QPalette::Base));
    painter->drawRoundedRect(box, 3, 3);
    if (checked) {
        painter->setPen(
            QPen(palette.color(QPalette::HighlightedText), 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const auto at = [&](qreal x, qreal y) {
            return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
        };
        painter->drawPolyline(QPolygonF{at(0.22, 0.52), at(0.43, 0.72), at(0.78, 0.28)});
    }
    painter->restore();
}

void drawTab(const QStyleOption* option, QPainter* painter)
{
    const bool selected = option->state.testFlag(QStyle::State_Selected);
    const bool hover = option->state.testFlag(QStyle::State_MouseOver);
    const QRect& rect = option->rect;
    if (hover && !selected) {
        QColor fill = option->palette.color(QPalette::WindowText);
        fill.setAlphaF(0.06F);
        painter->fillRect(rect, fill);
    }
    if (selected)
        painter->fillRect(QRect(rect.left() + 4, rect.bottom() - 1, rect.width() - 8, 2),
                          option->palette.color(QPalette::Highlight));
}

void drawDockTitle(const QStyleOptionDockWidget& option, QPainter* painter, const QRect& text)
{
    painter->save();
    QFont font = painter->font();
    font.setWeight(QFont::DemiBold);
    painter->setFont(font);
    painter->setPen(option.palette.color(QPalette::WindowText));
    const QString title = QFontMetrics(font).elidedText(option.title, Qt::ElideRight, text.width());
    painter->drawText(text.adjusted(4, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextHideMnemonic, title);
    painter->restore();
}

void drawHeaderSection(const QStyleOption* option, QPainter* painter)
{
    painter->fillRect(option->rect, option->palette.color(QPalette::Window));
    painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1),
                      option->palette.color(QPalette::Mid));
}

void drawMenuBarItem(const QStyleOptionMenuItem& option, QPainter* painter)
{
    painter->fillRect(option.rect, option.palette.color(QPalette::Window));
    if (option.state.testFlag(QStyle::State_Selected)) {
        QColor fill = option.palette.color(QPalette::WindowText);
        fill.setAlphaF(0.08F);
        painter->fillRect(option.rect.adjusted(1, 1, -1, -1), fill);
    }
    const auto group = option.state.testFlag(QStyle::State_Enabled) ? QPalette::Active : QPalette::Disabled;
    painter->setPen(option.palette.color(group, QPalette::WindowText));
    painter->drawText(option.rect, Qt::AlignCenter | Qt::TextHideMnemonic, option.text);
}

QRect scrollHandle(const QStyleOptionSlider& option)
{
    constexpr int kShortest = 24;
    const bool upright = option.orientation == Qt::Vertical;
    const int room = upright ? option.rect.height() : option.rect.width();
    const int range = option.maximum - option.minimum;
    if (range <= 0)
        return option.rect;
    const auto share = static_cast<double>(option.pageStep) / (static_cast<double>(range) + option.pageStep);
    const int length = std::clamp(static_cast<int>(room * share), std::min(kShortest, room), room);
    const int at = QStyle::sliderPositionFromValue(option.minimum, option.maximum, option.sliderPosition, room - length,
                                                   option.upsideDown);
    return upright ? QRect(option.rect.left(), option.rect.top() + at, option.rect.width(), length)
                   : QRect(option.rect.left() + at, option.rect.top(), length, option.rect.height());
}

void drawScrollBar(const QStyleOptionSlider& option, QPainter* painter)
{
    if (option.maximum <= option.minimum)
        return;
    const bool active = option.activeSubControls.testFlag(QStyle::SC_ScrollBarSlider) &&
                        (option.state & (QStyle::State_MouseOver | QStyle::State_Sunken));
    QColor fill = option.palette.color(QPalette::WindowText);
    fill.setAlphaF(active ? 0.45F : 0.22F);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(fill);
    painter->drawRoundedRect(QRectF(scrollHandle(option)).adjusted(2.5, 2.5, -2.5, -2.5), 3.5, 3.5);
    painter->restore();
}

} // namespace app
