#pragma once

#include "app/tables/filter_text.h"
#include "app/timeline/timeline_layout.h"

#include <QObject>
#include <QString>

class QAbstractScrollArea;

namespace app {

class TimelineNavigation;
struct TimelineScene;

/// The user's actions on the rows of a timeline: make one current, collapse, move, hide, pin and resize it.
class TimelineRowCommands : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas, whose viewport is repainted
    TimelineRowCommands(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area);

    /// Sets the arrangement of the rows without a signal.
    void setLayout(RowLayout layout);
    /// Shows only matching tracks, without a signal. Empty: all.
    void setFilter(const Filter& filter);

    void rowUp();
    void rowDown();
    void toggleRow();
    void foldAll();
    void unfoldAll();
    void moveRowUp();
    void moveRowDown();
    void hideRow();
    void togglePin();
    void showRow(const QString& key);
    void showAllRows();
    void resetRows();

    // While the header of a row is dragged; y is within all rows. A row that does not exist any more is ignored.
    void resize(int row, int y); ///< its lower edge is at y
    void endResize();
    void drag(int row, int y); ///< shows where it would be dropped
    void drop(int row, int y);

signals:
    /// The user collapsed, moved, hid, pinned or resized rows.
    void layoutChanged();

private:
    template <class Edit>
    void edit(Edit&& change);
    void goToRow(int row);
    void moveRow(int by);
    [[nodiscard]] bool has(int row) const;

    TimelineScene& m_scene;
    TimelineNavigation& m_navigation;
    QAbstractScrollArea& m_area;
};

} // namespace app
