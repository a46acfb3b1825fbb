#pragma once

#include "profiler/model/trace.h"

#include <QFrame>
#include <QString>

class QLabel;
class QPlainTextEdit;
class QToolButton;

namespace app {

/// The writer of a trace, which determines how data may be missing: our own recorder, or another program whose file may
/// be incomplete.
enum class Writer { Stepscope, Other };
Writer writerOf(const profiler::Trace& trace);

/// Describes missing data in terms of the user's task, one sentence per line; empty if nothing is missing.
QString captureNotice(const profiler::CaptureStats& stats, Writer writer);

/// A strip above the timeline with notes on missing data: the first note, and the rest in an expandable list that can
/// be copied. Hidden if nothing is missing.
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
    QString m_hidden; ///< the text that the user has closed; shown again if it changes
};

} // namespace app
