#pragma once

#include <QDialog>

namespace app {

class TimelineCanvas;

/// All keyboard shortcuts of the timeline by topic, generated from its actions.
class KeySheet : public QDialog {
    Q_OBJECT
public:
    KeySheet(const TimelineCanvas& canvas, QWidget* parent);
};

} // namespace app
