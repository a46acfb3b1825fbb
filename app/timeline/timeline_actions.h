#pragma once

#include <QList>
#include <QString>

class QAction;
class QMenu;
class QWidget;

namespace app {

class TimelineCanvas;

/// Adds the actions to the canvas: names, texts and shortcuts, active while it has the focus.
void addTimelineActions(TimelineCanvas& canvas);
/// An action by its object name, such as "zoomIn"; never null for an existing name.
QAction* timelineAction(const TimelineCanvas& canvas, const char* name);
/// All actions of the canvas as menus by topic, owned by `parent`. Those that other parts added to it, such as the list
/// of bookmarks, are below the marks.
QList<QMenu*> timelineMenus(const TimelineCanvas& canvas, QWidget* parent);

/// A topic of the shortcuts page: keys and what they do.
struct KeyTopic {
    QString title;
    QList<std::pair<QString, QString>> keys;
};
/// All shortcuts and mouse gestures, generated from the actions.
QList<KeyTopic> timelineKeys(const TimelineCanvas& canvas);

} // namespace app
