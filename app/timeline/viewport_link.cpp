#include "app/timeline/viewport_link.h"

#include "app/document/trace_pair.h"
#include "app/timeline/timeline_canvas.h"

#include <QAction>
#include <QApplication>
#include <QMouseEvent>
#include <cmath>

namespace app {

using profiler::Nanoseconds;

ViewportLink::ViewportLink(TimelineCanvas* canvas, TracePair* pair, Side side, QWidget* view)
    : QObject(canvas), m_canvas(canvas), m_pair(pair), m_side(side)
{
    LinkedViewport* viewport = pair->viewport();
    connect(canvas, &TimelineCanvas::viewChanged, this, &ViewportLink::report);
    connect(viewport, &LinkedViewport::viewWanted, this, [this](Side wanted) {
        if (wanted == m_side)
            showView();
    });
    connect(viewport, &LinkedViewport::limitsChanged, this, &ViewportLink::apply);
    connect(pair, &TracePair::openChanged, this, &ViewportLink::showPairing);
    addMarkAction();
    canvas->viewport()->installEventFilter(this);
    connect(qApp, &QApplication::focusChanged, this, [this, view](QWidget*, QWidget* focused) {
        if (focused && (focused == view || view->isAncestorOf(focused)))
            m_pair->setActiveSide(m_side);
    });
    showPairing();
    report();
}

void ViewportLink::addMarkAction()
{
    auto* action = new QAction(tr("Mark for the alignment of both traces"), m_canvas);
    action->setObjectName("markForAlignment");
    action->setShortcut(Qt::SHIFT | Qt::Key_M);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    m_canvas->addAction(action);
    connect(action, &QAction::triggered, this, [this] {
        // The same mark as that of the key M: it stays visible.
        m_canvas->marks().toggleMark();
        if (const auto mark = m_canvas->scene().marks.origin())
            m_pair->setMark(m_side, *mark);
    });
}

/// A scroll bar that only one of the timelines has would make its scale different.
void ViewportLink::showPairing()
{
    const bool paired = m_pair->isOpen();
    m_canvas->setVerticalScrollBarPolicy(paired ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAsNeeded);
    m_canvas->findChild<QAction*>("markForAlignment", Qt::FindDirectChildrenOnly)->setVisible(paired);
    if (!paired)
        apply();
}

void ViewportLink::report()
{
    if (!m_showing)
        m_pair->viewport()->move(m_side, {m_canvas->scene().axis.visible(), m_canvas->scene().headerWidth});
}

void ViewportLink::apply()
{
    m_showing = true;
    m_canvas->setLimits(m_pair->viewport()->limits(m_side));
    m_showing = false;
    if (m_pair->viewport()->isLinked() && m_side == Side::Second)
        showView();
    else
        report(); // the limits may have moved it
}

void ViewportLink::showView()
{
    const LinkedViewport::View& view = m_pair->viewport()->view(m_side);
    m_showing = true;
    if (view.headerWidth > 0 && view.headerWidth != m_canvas->scene().headerWidth)
        m_canvas->setHeaderWidth(view.headerWidth);
    m_canvas->showRange(view.visible);
    m_showing = false;
}

/// The wheel does not move the focus by itself, but keys act on the timeline that the user moves.
void ViewportLink::activate()
{
    if (m_pair->activeSide() == m_side)
        return;
    if (qobject_cast<TimelineCanvas*>(QApplication::focusWidget()))
        m_canvas->setFocus(Qt::MouseFocusReason);
    m_pair->setActiveSide(m_side);
}

bool ViewportLink::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Wheel)
        activate();
    if (m_side == Side::First)
        return QObject::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        return startDrag(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove:
        if (!m_shifting)
            break;
        drag(*static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseButtonRelease:
        if (!m_shifting)
            break;
        if (m_shifting->moved) {
            m_shifting.reset();
            m_canvas->viewport()->unsetCursor();
            return true;
        }
        endDrag();
        break;
    default:
        break;
    }
    return QObject::eventFilter(watched, event);
}

bool ViewportLink::startDrag(const QMouseEvent& event)
{
    if (m_replaying || event.button() != Qt::LeftButton || !event.modifiers().testFlag(Qt::ControlModifier) ||
        event.position().x() <= m_canvas->scene().headerWidth || !m_pair->viewport()->isLinked())
        return false;
    m_shifting.emplace(
        Shifting{std::unique_ptr<QEvent>(event.clone()), event.position().x(), m_pair->viewport()->shift(), false});
    return true;
}

void ViewportLink::drag(const QMouseEvent& event)
{
    const double pixels = event.position().x() - m_shifting->x;
    if (!m_shifting->moved && std::abs(pixels) < QApplication::startDragDistance())
        return;
    m_shifting->moved = true;
    m_canvas->viewport()->setCursor(Qt::SizeHorCursor);
    const double ns = pixels * m_canvas->scene().axis.nsPerPixel();
    m_pair->alignByShift(m_shifting->shift + Nanoseconds{std::llround(ns)});
}

/// It was a click, which the timeline handles.
void ViewportLink::endDrag()
{
    const std::unique_ptr<QEvent> press = std::move(m_shifting->press);
    m_shifting.reset();
    m_replaying = true;
    QApplication::sendEvent(m_canvas->viewport(), press.get());
    m_replaying = false;
}

} // namespace app
