#pragma once

#include "trainer/config/protocol.h"

#include <QFrame>
#include <QStatusBar>
#include <QString>
#include <QTimer>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QToolButton;

/// The strips of the window around its panels: notices and the progress of a long operation above the timeline, and the
/// status line at the bottom.
namespace app {

class JobGuard;
class LevelCostMeasurer;
class TraceDocument;
class TrainingService;

/// A notice above the timeline: one sentence, details that can be expanded and copied, and a close button. A newer
/// notice replaces an older one, but information does not hide an error.
class NoticeStrip : public QFrame {
    Q_OBJECT
public:
    explicit NoticeStrip(QWidget* parent);

    void show(const QString& what, const QString& detail, bool isError);
    /// Offers to open the file that the notice on screen is about, with the application that the desktop uses for it.
    void offerToOpen(const QString& file);
    void dismiss();
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString detail() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QToolButton* makeButton(const QString& name, const QString& iconStem, const QString& text);
    void fold(bool folded);

    bool m_isError = false;
    QLabel* m_what;
    QPlainTextEdit* m_detail;
    QToolButton *m_open, *m_more, *m_copy, *m_close;
    QString m_file; ///< that m_open opens
};

/// Progress of a long operation: description, share done, and Cancel.
class LoadingBar : public QWidget {
    Q_OBJECT
public:
    explicit LoadingBar(QWidget* parent);

    /// @param share  [0, 1]; 1 hides it
    void show(const QString& what, double share);

signals:
    void cancelled();

private:
    QLabel* m_what;
    QProgressBar* m_bar;
};

/// The status line of the window: activity, progress, throughput, loss, and lost events.
class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    StatusLine(const TrainingService* training, const JobGuard* jobs, const TraceDocument* document,
               const LevelCostMeasurer* levelCosts, QWidget* parent);

    [[nodiscard]] QString text() const;

private:
    void take(const config::protocol::Progress& progress);
    void showState();
    [[nodiscard]] QString stateAndFigures() const;
    void showOverhead();

    const TrainingService* m_training;
    const JobGuard* m_jobs;
    const TraceDocument* m_document;
    QLabel* m_words;
    QProgressBar* m_bar;
    QString m_preparing, m_overhead;
    QTimer m_redraw;
};

} // namespace app
