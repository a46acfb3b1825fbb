#pragma once

#include "app/tables/table_query.h"

#include <QTimer>
#include <QWidget>
#include <optional>

class QLabel;
class QLineEdit;
class QProgressBar;
class QToolButton;

namespace app {

/// The bar above a table: filter, grouping, occurrence navigation, number of rows, progress.
class TableBar : public QWidget {
    Q_OBJECT
public:
    /// @param title     subject of the table, for screen readers
    /// @param hasNames  rows have names, so they can be filtered and grouped by name
    TableBar(const QString& title, bool hasNames, QWidget* parent);

    /// The filter set by the user; an invalid pattern shows its error here and filters nothing.
    [[nodiscard]] TableFilter filter() const;
    [[nodiscard]] bool grouped() const;
    void setGrouped(bool grouped);
    void setFilterText(const QString& text, bool pattern);
    void focusFilter();
    /// The selected range that the user can restrict the rows to; kept until there is another.
    void setRange(profiler::TimeRange range);
    /// Clears the filters for a new trace.
    void forgetFilter();

    /// "41 names", "3 of 8,772".
    void setCount(const QString& text);
    /// Values below 1 show the progress bar and Cancel.
    void setProgress(double share);
    /// Adds a button or menu of the table at the end of the bar.
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
