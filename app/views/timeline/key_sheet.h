#pragma once

#include <QDialog>

namespace app {

class TimelineCanvas;

/// All keys of the timeline, by topic, as its actions have them.
class KeySheet : public QDialog {
    Q_OBJECT
public:
    KeySheet(const TimelineCanvas& canvas, QWidget* parent);
};

} // namespace app
