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

/// A topic of the sheet of keys: what to press, and what it does.
struct KeyTopic {
    QString title;
    QList<std::pair<QString, QString>> keys;
};
/// All keys and what the mouse does, made of the actions themselves.
QList<KeyTopic> timelineKeys(const TimelineCanvas& canvas);

} // namespace app
