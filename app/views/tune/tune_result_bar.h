#pragma once

#include "app/session/session.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;

namespace app {

/// What tuning made of the training, in a sentence, and the ways to take it along: into the configuration, as files, as
/// code to paste. Shown once there is a result.
class TuneResultBar : public QWidget {
    Q_OBJECT
public:
    TuneResultBar(Session* session, QWidget* parent);

    /// Of the session's last tuning.
    void showResult();

protected:
    void changeEvent(QEvent* event) override;

private:
    QToolButton* makeCopyButton();
    void colourSummary();
    [[nodiscard]] bool isApplied() const;
    void saveConfiguration();
    void saveReport();
    void copyCode(std::string_view heading);

    Session* m_session;
    QLabel* m_summary;
    QPushButton *m_apply, *m_saveConfiguration, *m_saveReport;
    QToolButton* m_copy;
};

} // namespace app
