#pragma once

#include "app/findings/finding_card.h"

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

/// The user's source files of a recorded Python program with the training time of each line. Selecting a line shows its
/// occurrences on the timeline and its findings; selecting a slice shows its line.
class SourcePanel : public QWidget {
    Q_OBJECT
public:
    SourcePanel(const FindingServices& services, QWidget* parent);

    /// Null: not analysed yet.
    void showAdvice(std::shared_ptr<const Advised> advised);
    /// Selects a line in a file of the program and brings the view to the front.
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
    void refreshCards();
    void takeSelection();
    void showRange(std::size_t index);
    void showCards(int row);
    [[nodiscard]] QString currentFile() const;

    FindingServices m_uses;
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
    std::vector<FindingCard*> m_cards;         ///< of the selected line
    std::vector<profiler::TimeRange> m_ranges; ///< occurrences of the selected line
    std::size_t m_range = 0;                   ///< index of the displayed occurrence
    int m_toCenter = -1;                       ///< row to scroll to when the table has its size; -1: none
    bool m_isFollowing = false;                ///< the row is following the selection and must not change it
};

} // namespace app
