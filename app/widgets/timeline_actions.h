#pragma once

#include <QList>
#include <QString>

class QAction;
class QMenu;
class QWidget;

namespace app {

class TimelineCanvas;

/// Gives the canvas its actions: names, texts and keys, active while it has the focus.
void addTimelineActions(TimelineCanvas& canvas);
/// One of them by its object name, as "zoomIn"; never null for a name that exists.
QAction* timelineAction(const TimelineCanvas& canvas, const char* name);
/// All of them as menus by topic, each owned by `parent`.
QList<QMenu*> timelineMenus(const TimelineCanvas& canvas, QWidget* parent);

} // namespace app
