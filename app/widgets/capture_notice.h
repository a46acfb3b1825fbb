#pragma once

#include "profiler/model/capture_stats.h"

#include <QFrame>
#include <QString>

class QLabel;
class QPlainTextEdit;
class QToolButton;

namespace app {

/// What was lost, in words of the user's task, a sentence a line; empty when nothing was.
QString captureNotice(const profiler::CaptureStats& stats);

/// A strip over the timeline that says what a trace lacks: the first of it, the rest folds out and all of it can be
/// copied. Hidden while it lacks nothing.
class CaptureNotice : public QFrame {
    Q_OBJECT
public:
    explicit CaptureNotice(QWidget* parent = nullptr);
    void setStats(const profiler::CaptureStats& stats);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QToolButton* makeButton(const QString& name, const QString& iconStem, const QString& text);
    void fold(bool folded);

    QLabel* m_text;
    QToolButton *m_close, *m_more, *m_copy;
    QPlainTextEdit* m_rest;
    QString m_all;
    QString m_hidden; ///< the text that the user has closed: it comes back when it changes
};

} // namespace app
