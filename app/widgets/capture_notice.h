#pragma once

#include "profiler/model/trace.h"

#include <QFrame>
#include <QString>

class QLabel;
class QPlainTextEdit;
class QToolButton;

namespace app {

/// Who wrote a trace, which tells how something of it may be lost: our own recording, or another program, whose file
/// may also be a part of what it wrote.
enum class Writer { Stepscope, Other };
Writer writerOf(const profiler::Trace& trace);

/// What was lost, in words of the user's task, a sentence a line; empty when nothing was.
QString captureNotice(const profiler::CaptureStats& stats, Writer writer);

/// A strip over the timeline that says what a trace lacks: the first of it, the rest folds out and all of it can be
/// copied. Hidden while it lacks nothing.
class CaptureNotice : public QFrame {
    Q_OBJECT
public:
    explicit CaptureNotice(QWidget* parent = nullptr);
    void setStats(const profiler::CaptureStats& stats, Writer writer);

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
