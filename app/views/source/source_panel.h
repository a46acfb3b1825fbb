#pragma once

#include "app/session/session.h"
#include "app/views/view.h"

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace app {

class FindingCard;
class SourceModel;
struct Advised;

/// The user's files of a recorded Python program, with the time that the training spent in each line. Selecting a line
/// shows on the timeline when the training was there, and the findings that concern it; selecting a slice shows its
/// line.
class SourcePanel : public QWidget {
    Q_OBJECT
public:
    SourcePanel(const ViewContext& context, QWidget* parent);

    /// Null: nothing was analysed yet.
    void showAdvice(std::shared_ptr<const Advised> advised);
    /// Selects a line of one of the program's files, and brings the view to the front.
    void goTo(const QString& file, int line);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeHead();
    QWidget* makeTable();
    QWidget* makeCards();
    void showFile();
    void showEmpty(const QString& why);
    void selectRow(int row);
    void center(int row);
    void centerWhenLaidOut();
    void takeRow();
    void takeSelection();
    void showRange(std::size_t index);
    void showCards(int row);
    [[nodiscard]] QString currentFile() const;

    ViewContext m_context;
    std::shared_ptr<const Advised> m_advised;
    QStackedWidget* m_pages;
    QLabel* m_empty;
    QComboBox* m_files = nullptr;
    QLabel *m_about = nullptr, *m_problem = nullptr, *m_where = nullptr;
    QToolButton *m_previous = nullptr, *m_next = nullptr, *m_edit = nullptr;
    SourceModel* m_model;
    QTableView* m_table = nullptr;
    QSplitter* m_split = nullptr;
    QScrollArea* m_cardArea = nullptr;
    QVBoxLayout* m_cardLayout = nullptr;
    std::vector<FindingCard*> m_cards;         ///< of the line that is selected
    std::vector<profiler::TimeRange> m_ranges; ///< when the training was at the line that is selected
    std::size_t m_range = 0;                   ///< of these, the one that is shown
    int m_toCenter = -1;                       ///< row to scroll to once the table has its size; -1: none
    bool m_isFollowing = false;                ///< the row follows the selection: it does not change it
};

} // namespace app
