#include "app/window/main_window.h"

#include <QDockWidget>

// The Tab order. Qt's default chain includes docks hidden behind another tab and can get stuck in them.
namespace app {

namespace {

/// True if the widget is in a dock behind another tab: Qt moves such a dock outside the window but keeps it visible.
bool isBehindATab(const QWidget* widget)
{
    for (; widget && !widget->isWindow(); widget = widget->parentWidget())
        if (qobject_cast<const QDockWidget*>(widget))
            return widget->visibleRegion().isEmpty();
    return false;
}

bool takesTab(const QWidget* widget, const QWidget* window)
{
    return (widget->focusPolicy() & Qt::TabFocus) && widget->isEnabled() && widget->isVisibleTo(window) &&
           widget->window() == window && !isBehindATab(widget);
}

QWidget* neighbour(QWidget* of, bool next)
{
    return next ? of->nextInFocusChain() : of->previousInFocusChain();
}

} // namespace

bool MainWindow::focusNextPrevChild(bool next)
{
    QWidget* const from = focusWidget() ? focusWidget() : this;
    for (QWidget* at = neighbour(from, next); at && at != from; at = neighbour(at, next)) {
        // A widget with a focus proxy is represented by its proxy.
        if (at->focusProxy() || !takesTab(at, this))
            continue;
        at->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        if (focusWidget() != from)
            return true;
    }
    return false;
}

} // namespace app
