#pragma once

#include "app/timeline_tools/timeline_bookmarks.h"
#include "profiler/model/clock.h"

#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace app {

class CaptureNotice;
class TimelineBookmarks;
class TimelineCanvas;
class TimelineSearch;
class TracePair;
class ViewportLink;

/// The timeline of a second trace below that of the window's document, on the same axis, with the controls of their
/// alignment. Hidden while there is no second trace; its timeline is created when the first one is opened.
class SideBySideView : public QWidget {
    Q_OBJECT
public:
    SideBySideView(TracePair* pair, BookmarkStore bookmarks, QWidget* parent);

    /// Null until a second trace was opened.
    [[nodiscard]] TimelineCanvas* canvas() const { return m_canvas; }

signals:
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    QWidget* makeHeader();
    void addStepControls(QHBoxLayout* row);
    void addAlignmentControls(QHBoxLayout* row);
    void addActions();
    void makeTimeline();
    void takeOpen();
    void connectSecond();
    void takeTrace();
    void showTrace();
    void showAnalysed();
    void showState();
    void chooseAlignment(int entry);
    [[nodiscard]] QString stepText() const;
    [[nodiscard]] profiler::Nanoseconds equalStarts() const;

    TracePair* m_pair;
    BookmarkStore m_store;
    TimelineCanvas* m_canvas = nullptr;
    ViewportLink* m_link = nullptr;
    TimelineSearch* m_search = nullptr;
    TimelineBookmarks* m_bookmarks = nullptr;
    CaptureNotice* m_notice;
    QStackedWidget* m_pages;
    QLabel *m_name = nullptr, *m_step = nullptr, *m_empty = nullptr;
    QToolButton *m_previous = nullptr, *m_next = nullptr, *m_lock = nullptr;
    QComboBox* m_alignment = nullptr;
    QDoubleSpinBox* m_shift = nullptr;
};

} // namespace app
