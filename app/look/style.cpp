#include "app/look/style.h"

#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStyleOption>
#include <QToolButton>
#include <algorithm>

namespace app {

namespace {

constexpr qreal kRadius = 4;
constexpr int kMenuArrow = 10; ///< logical pixels at the right of a tool button that opens a menu

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

/// A button with a separate part for its menu has Qt's arrow.
bool opensMenu(const QStyleOption* option)
{
    const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
    return button && button->features.testFlag(QStyleOptionToolButton::HasMenu) &&
           !button->features.testFlag(QStyleOptionToolButton::MenuButtonPopup);
}

void drawMenuArrow(const QStyleOption* option, const QRect& button, QPainter* painter)
{
    const auto group = option->state.testFlag(QStyle::State_Enabled) ? QPalette::Active : QPalette::Disabled;
    const QRect room(button.right() - kMenuArrow - 2, button.top(), kMenuArrow, button.height());
    const QPointF centre = QRectF(QStyle::visualRect(option->direction, button, room)).center();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(option->palette.color(group, QPalette::ButtonText));
    painter->drawPolygon(QPolygonF{centre + QPointF(-3.5, -1.5), centre + QPointF(3.5, -1.5), centre + QPointF(0, 2)});
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

/// @param up, down  rectangles of its buttons
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

/// Rectangle of the handle of a scroll bar without arrows.
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

} // namespace

Style::Style() : QProxyStyle("fusion") {}

void Style::polish(QWidget* widget)
{
    QProxyStyle::polish(widget);
    if (qobject_cast<QMenu*>(widget))
        widget->installEventFilter(this);
}

bool Style::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::ShortcutOverride)
        return QProxyStyle::eventFilter(watched, event);
    event->accept(); // not a shortcut: the menu receives it as a key press
    return true;
}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const
{
    switch (element) {
    case PE_PanelButtonCommand:
        drawButton(option, painter, widget);
        return;
    case PE_PanelButtonTool:
        drawToolButton(option, painter);
        return;
    case PE_PanelLineEdit:
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option); frame && frame->lineWidth > 0) {
            drawLineEdit(option, painter, widget);
            return;
        }
        break;
    case PE_IndicatorCheckBox:
        drawCheckBox(option, painter);
        return;
    case PE_IndicatorArrowDown:
        if (const auto* button = qobject_cast<const QToolButton*>(widget); button && opensMenu(option)) {
            drawMenuArrow(option, button->rect(), painter);
            return;
        }
        break;
    case PE_FrameFocusRect:
        if (qobject_cast<const QPushButton*>(widget))
            return; // the border shows it
        break;
    case PE_FrameDockWidget: // of a floating dock, which otherwise has no edge in front of the window
        painter->save();
        painter->setPen(option->palette.color(QPalette::Mid));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
        return;
    case PE_FrameStatusBarItem:
    case PE_PanelMenuBar:
    case PE_FrameTabBarBase:
    case PE_PanelScrollAreaCorner:
        return;
    case PE_Frame:
        painter->save();
        painter->setPen(option->palette.color(QPalette::Mid));
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
        return;
    case PE_IndicatorDockWidgetResizeHandle:
    case PE_IndicatorToolBarSeparator:
        if (element == PE_IndicatorToolBarSeparator) {
            const QPoint centre = option->rect.center();
            painter->fillRect(QRect(centre.x(), option->rect.top() + 6, 1, option->rect.height() - 12),
                              option->palette.color(QPalette::Mid));
        }
        return;
    default:
        break;
    }
    QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void Style::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                        const QWidget* widget) const
{
    switch (element) {
    case CE_TabBarTabShape:
        drawTab(option, painter);
        return;
    case CE_ToolBar: {
        const QRect& rect = option->rect;
        painter->fillRect(rect, option->palette.color(QPalette::Window));
        painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), option->palette.color(QPalette::Mid));
        return;
    }
    case CE_MenuBarEmptyArea:
        painter->fillRect(option->rect, option->palette.color(QPalette::Window));
        return;
    case CE_DockWidgetTitle:
        if (const auto* dock = qstyleoption_cast<const QStyleOptionDockWidget*>(option)) {
            drawDockTitle(*dock, painter, subElementRect(SE_DockWidgetTitleBarText, option, widget));
            return;
        }
        break;
    case CE_PushButtonLabel:
        if (widget && widget->property("primary").toBool() && option->state.testFlag(State_Enabled))
            if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option)) {
                QStyleOptionButton filled = *button;
                filled.palette.setColor(QPalette::ButtonText, option->palette.color(QPalette::HighlightedText));
                QProxyStyle::drawControl(element, &filled, painter, widget);
                return;
            }
        break;
    case CE_ToolButtonLabel:
        if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
            button && opensMenu(option)) {
            QStyleOptionToolButton label = *button;
            label.rect = visualRect(option->direction, option->rect, option->rect.adjusted(0, 0, -kMenuArrow, 0));
            QProxyStyle::drawControl(element, &label, painter, widget);
            return;
        }
        break;
    case CE_Splitter:
        return;
    case CE_HeaderSection:
    case CE_HeaderEmptyArea:
        drawHeaderSection(option, painter);
        return;
    case CE_MenuBarItem:
        if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option)) {
            drawMenuBarItem(*item, painter);
            return;
        }
        break;
    default:
        break;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                               const QWidget* widget) const
{
    const auto* bar = control == CC_ScrollBar ? qstyleoption_cast<const QStyleOptionSlider*>(option) : nullptr;
    const auto* number = control == CC_SpinBox ? qstyleoption_cast<const QStyleOptionSpinBox*>(option) : nullptr;
    if (bar)
        drawScrollBar(*bar, painter);
    else if (number && number->frame && number->buttonSymbols == QAbstractSpinBox::UpDownArrows)
        drawSpinBox(*number, painter, widget, subControlRect(control, option, SC_SpinBoxUp, widget),
                    subControlRect(control, option, SC_SpinBoxDown, widget));
    else
        QProxyStyle::drawComplexControl(control, option, painter, widget);
}

QRect Style::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                            const QWidget* widget) const
{
    const auto* bar = control == CC_ScrollBar ? qstyleoption_cast<const QStyleOptionSlider*>(option) : nullptr;
    if (!bar)
        return QProxyStyle::subControlRect(control, option, part, widget);
    const QRect handle = scrollHandle(*bar);
    const bool upright = bar->orientation == Qt::Vertical;
    switch (part) {
    case SC_ScrollBarSlider:
        return handle;
    case SC_ScrollBarGroove:
        return bar->rect;
    case SC_ScrollBarSubPage:
        return upright ? QRect(bar->rect.topLeft(), handle.topRight())
                       : QRect(bar->rect.topLeft(), handle.bottomLeft());
    case SC_ScrollBarAddPage:
        return upright ? QRect(handle.bottomLeft(), bar->rect.bottomRight())
                       : QRect(handle.topRight(), bar->rect.bottomRight());
    default:
        return {}; // no arrows
    }
}

QRect Style::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const
{
    QRect rect = QProxyStyle::subElementRect(element, option, widget);
    if (widget && (element == SE_TabBarScrollLeftButton || element == SE_TabBarScrollRightButton)) {
        const int reserved = widget->property(kTabMenuWidth).toInt();
        rect.translate(widget->isRightToLeft() ? reserved : -reserved, 0);
    }
    const auto* frame = element == SE_LineEditContents ? qstyleoption_cast<const QStyleOptionFrame*>(option) : nullptr;
    if (frame && frame->lineWidth > 0)
        rect.adjust(2, 0, -2, 0); // its text is aligned with that of combo boxes and spin boxes
    return rect;
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const
{
    QSize wanted = QProxyStyle::sizeFromContents(type, option, size, widget);
    if (type == CT_PushButton)
        wanted.rwidth() += 12;
    if (type == CT_ToolButton && opensMenu(option))
        wanted.rwidth() += kMenuArrow;
    if (type == CT_MenuBarItem)
        wanted += QSize(6, 4);
    if (type == CT_ItemViewItem)
        wanted.rheight() += 6;
    if (type == CT_HeaderSection)
        wanted.rheight() += 4;
    return wanted;
}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    switch (metric) {
    case PM_DockWidgetSeparatorExtent:
    case PM_SplitterWidth:
    case PM_DockWidgetTitleMargin:
        return 5;
    case PM_DockWidgetFrameWidth:
        return 1; // of a floating dock
    case PM_ToolBarItemSpacing:
        return 3;
    case PM_ToolBarItemMargin:
        return 4;
    case PM_TabBarTabShiftVertical:
    case PM_TabBarTabOverlap:
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
        return 0;
    case PM_TabBarTabHSpace:
        return widget && widget->property(kTabMenuWidth).isValid() ? 16 : 24; // the tabs of docks are many
    case PM_TabBarTabVSpace:
        return 12;
    case PM_HeaderMargin:
        return 6;
    case PM_FocusFrameHMargin: // text in the cells of a table is aligned with the text of its header
        return 5;
    case PM_ScrollBarExtent:
        return 12;
    case PM_SmallIconSize:
        return 16;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* result) const
{
    if (hint == SH_UnderlineShortcut)
        return 0;
    if (hint == SH_TabBar_Alignment)
        return Qt::AlignLeft;
    if (hint == SH_DialogButtonBox_ButtonsHaveIcons)
        return 0;
    return QProxyStyle::styleHint(hint, option, widget, result);
}

QIcon Style::standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const
{
    switch (which) {
    case SP_TitleBarCloseButton:
    case SP_DockWidgetCloseButton:
        return icon("close", QPalette::PlaceholderText);
    case SP_TitleBarNormalButton:
        return icon("undock", QPalette::PlaceholderText);
    case SP_MessageBoxQuestion:
        return icon("unknown", QPalette::Highlight);
    case SP_MessageBoxInformation:
        return icon("info", QPalette::Highlight);
    case SP_MessageBoxWarning:
        return icon("warning", QPalette::Highlight);
    case SP_MessageBoxCritical:
        return icon("error", QPalette::Highlight);
    default:
        return QProxyStyle::standardIcon(which, option, widget);
    }
}

} // namespace app
