#pragma once

#include "app/session/session.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace app {

/// What a window without a trace shows: a ready training, opening a trace, and the runs that were kept.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(Session* session, QWidget* parent);

private:
    void tryIt();
    void chooseTrace();
    void recordProgram();
    void showRuns();

    Session* m_session;
    QWidget* m_recent = nullptr;
    QVBoxLayout* m_recentRuns = nullptr;
};

} // namespace app
