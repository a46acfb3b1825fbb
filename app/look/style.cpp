#include "app/look/style.h"

#include "app/look/icon.h"
#include "app/look/style_drawing.h"

#include <QEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStyleOption>

namespace app {

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
    return rect;
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const
{
    QSize wanted = QProxyStyle::sizeFromContents(type, option, size, widget);
    if (type == CT_PushButton)
        wanted.rwidth() += 12;
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
        return 5;
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
