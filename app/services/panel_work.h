#pragma once

#include "app/look/visibility_watcher.h"
#include "app/services/background.h"

#include <QObject>
#include <QString>
#include <functional>

class QLabel;
class QProgressBar;
class QStackedWidget;
class QToolButton;
class QWidget;

namespace app {

/// Runs a panel's work in the background. While it runs, the panel shows a progress bar and Cancel, and a text if it has
/// no content yet. Work starts only while the panel is in front: if it is requested behind another tab, it waits until
/// the panel comes to the front. GUI thread; a member of the panel.
class PanelWork : public QObject {
    Q_OBJECT
public:
    /// @param panel      also the parent of the widgets
    /// @param name       "memory": the label of the empty panel is "memoryEmpty"
    /// @param cancelled  shown after Cancel
    /// @param start      starts the work for what the panel shows now: by run(), or by show() with the reason why not
    PanelWork(QWidget* panel, const QString& name, QString cancelled, std::function<void()> start);

    /// The text, or the content.
    [[nodiscard]] QStackedWidget* pages() const { return m_pages; }
    /// Adds what is shown unless there is a text. Once.
    void setContent(QWidget* content);
    /// Visible during the work.
    [[nodiscard]] QProgressBar* progress() const { return m_progress; }
    [[nodiscard]] QToolButton* cancelButton() const { return m_cancel; }

    /// Starts, or starts over, as soon as the panel is in front.
    void request();
    /// What is shown is outdated: request() follows, or the panel comes to the front.
    void setOutdated() { m_outdated = true; }
    /// Runs the work, which ends by posting a call of end(). A text that is shown stays.
    /// @param failed  called instead, with the error
    void run(Background::Work work, std::function<void(const profiler::Error&)> failed);
    /// Without this, the progress bar only shows that something happens.
    void setProgress(double share);
    /// The work is done.
    void end();
    /// Cancels the work: its subject is gone.
    void abandon();
    /// Shows a text instead of the content; empty: the content.
    void show(const QString& text);

    /// The panel matches its subject, or there is nothing to compute.
    [[nodiscard]] bool isUpToDate() const { return !m_outdated && !m_busy; }

signals:
    /// @param hasContent  false: a text is shown instead
    void shown(bool hasContent);

private:
    void start();
    void showBusy();

    QString m_cancelled;
    std::function<void()> m_start;
    QStackedWidget* m_pages;
    QLabel* m_text;
    QProgressBar* m_progress;
    QToolButton* m_cancel;
    VisibilityWatcher m_front;
    bool m_outdated = true, m_busy = false;
    Background m_work; ///< last: it uses the others
};

} // namespace app
