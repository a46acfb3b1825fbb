#pragma once

#include "app/document/session.h"

#include <QStatusBar>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace app {

/// The status line of the window: activity, progress, throughput, loss, and lost events.
class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    StatusLine(Session* session, QWidget* parent);

    [[nodiscard]] QString text() const;

private:
    void take(const config::protocol::Progress& progress);
    void showState();
    void showOverhead();

    Session* m_session;
    QLabel* m_words;
    QProgressBar* m_bar;
    QString m_preparing, m_overhead;
    QTimer m_redraw;
};

/// "training · step 340 of 1,000 · 812 samples/s · loss 0.41 · 0 events dropped · Recording at level full adds 3.1 %
/// …".
/// @param overhead  recording overhead; empty: unknown
QString statusText(const Session& session, const QString& preparing, const QString& overhead = {});

} // namespace app
