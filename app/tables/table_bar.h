#pragma once

#include "app/tables/table_query.h"

#include <QTimer>
#include <QWidget>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QProgressBar;
class QToolButton;

namespace app {

/// The bar above a table: filter, grouping, occurrence navigation, number of rows, progress.
class TableBar : public QWidget {
    Q_OBJECT
public:
    TableBar(TableSubject subject, QWidget* parent);

    /// The filter set by the user; a text that does not parse shows its error here and filters nothing.
    [[nodiscard]] TableFilter filter() const;
    /// Empty: one row per slice.
    [[nodiscard]] const TableGrouping& grouping() const;
    /// @param grouping  one of the subject, or empty
    void setGrouping(const TableGrouping& grouping);
    /// @param text  in the language of app/tables/filter_text.h
    void setFilterText(const QString& text);
    void focusFilter();
    /// The selected time that the user can restrict the rows to; kept until there is another.
    void setRange(profiler::TimeRange range);
    /// Clears the filters for a new trace.
    void forgetFilter();

    /// "41 names", "3 of 8,772".
    void setCount(const QString& text);
    /// Values below 1 show the progress bar and Cancel.
    void setProgress(double share);
    /// Adds a button with a menu at the end of the bar.
    QMenu* addMenu(const QString& accessibleName, const QString& iconStem, const QList<QAction*>& actions = {});
    void addActionButtons(const QList<QAction*>& actions);

signals:
    void filterChanged();
    void groupingChanged();
    void cancelled();

protected:
    void changeEvent(QEvent* event) override;

private:
    void fillGroupings();
    void checkFilter();
    [[nodiscard]] profiler::Result<Filter> parsed() const;

    TableSubject m_subject;
    std::vector<TableGrouping> m_groupings; ///< by index of the combo box
    QLineEdit* m_text;
    QToolButton *m_inRange, *m_cancel;
    QComboBox* m_grouping;
    QLabel *m_problem, *m_count;
    QProgressBar* m_progress;
    QTimer m_typed;
    std::optional<profiler::TimeRange> m_range;
};

} // namespace app
