#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace app {

class RemoteTraceService;

/// A line above the timeline while the trace is on another machine: where it is, how much of it has been transferred,
/// and what to do when the connection is lost.
class RemoteStrip : public QWidget {
    Q_OBJECT
public:
    /// @param remote  must outlive the strip
    RemoteStrip(RemoteTraceService* remote, QWidget* parent);

private:
    void showState();

    RemoteTraceService* m_remote;
    QLabel* m_text;
    QPushButton *m_reconnect, *m_analyse;
};

} // namespace app
