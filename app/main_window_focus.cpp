#include "app/main_window.h"

#include <QDockWidget>

// Where Tab goes: Qt's own chain leads through docks that lie behind another's tab, and ends in them.
namespace app {

namespace {

/// In a dock behind another's tab: Qt keeps that beside the window, as visible as before.
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
        // What hands its focus on comes in its proxy's place.
        if (at->focusProxy() || !takesTab(at, this))
            continue;
        at->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        if (focusWidget() != from)
            return true;
    }
    return false;
}

} // namespace app
