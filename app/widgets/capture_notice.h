#pragma once

#include "profiler/model/capture_stats.h"

#include <QFrame>
#include <QString>

class QLabel;

namespace app {

/// What was lost, in words of the user's task; empty when nothing was.
QString captureNotice(const profiler::CaptureStats& stats);

/// A strip over the timeline that says what a trace lacks. Hidden while it lacks nothing.
class CaptureNotice : public QFrame {
    Q_OBJECT
public:
    explicit CaptureNotice(QWidget* parent = nullptr);
    void setStats(const profiler::CaptureStats& stats);

private:
    QLabel* m_text;
    QString m_hidden; ///< the text that the user has closed: it comes back when it changes
};

} // namespace app
