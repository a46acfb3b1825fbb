#pragma once

#include "app/models/table_query.h"

#include <QTimer>
#include <QWidget>
#include <optional>

class QLabel;
class QLineEdit;
class QProgressBar;
class QToolButton;

namespace app {

/// The line above a table: filter, grouping, steps from occurrence to occurrence, how many rows, how far the work is.
class TableBar : public QWidget {
    Q_OBJECT
public:
    /// @param title     what the table is about, for screen readers
    /// @param hasNames  rows have names, so that they can be filtered by them and grouped
    TableBar(const QString& title, bool hasNames, QWidget* parent);

    /// As the user set it; a pattern that is none shows its problem here and filters nothing.
    [[nodiscard]] TableFilter filter() const;
    [[nodiscard]] bool grouped() const;
    void setGrouped(bool grouped);
    void setFilterText(const QString& text, bool pattern);
    void focusFilter();
    /// The range that the user may narrow the rows to; it stays until there is another.
    void setRange(profiler::TimeRange range);
    /// Another trace: no rows are filtered out by what was typed or selected for the one before.
    void forgetFilter();

    /// "41 names", "3 of 8,772".
    void setCount(const QString& text);
    /// Below 1: shows the bar and Cancel.
    void setProgress(double share);
    /// Buttons and menus that belong to the table, at the line's end.
    void addMenu(const QString& accessibleName, const QString& iconStem, const QList<QAction*>& actions);
    void addActionButtons(const QList<QAction*>& actions);

signals:
    void filterChanged();
    void groupedChanged();
    void cancelled();

protected:
    void changeEvent(QEvent* event) override;

private:
    QToolButton* makeToggle(const QString& name, const QString& iconStem, const QString& text, const QString& what);
    void checkPattern();

    QLineEdit* m_text;
    QToolButton *m_pattern, *m_inRange, *m_grouped, *m_cancel;
    QLabel *m_problem, *m_count;
    QProgressBar* m_progress;
    QTimer m_typed;
    std::optional<profiler::TimeRange> m_range;
};

} // namespace app
