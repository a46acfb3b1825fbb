#pragma once

#include "app/session/session.h"
#include "app/views/view.h"

#include <QScrollArea>
#include <map>
#include <optional>

class QLabel;
class QVBoxLayout;

namespace app {

class FindingCard;
class FoldedList;
class JournalList;

/// Which steps advice on a trace that still grows stands on; empty where it has ended.
QString basisText(const Advised& advice);

/// What the advisor says about the trace on screen: cards for what it found, folded lists for the rest, and the
/// journal.
class AdvisorPanel : public QScrollArea {
    Q_OBJECT
public:
    AdvisorPanel(const ViewContext& context, QWidget* parent);

    /// Null: nothing was analysed yet.
    void show(const Advised* advice);

protected:
    void changeEvent(QEvent* event) override;

private:
    void showAdvice();
    void colourTrouble();
    void placeCard(const advisor::RuleAdvice& advice, int rank);
    void dropOtherCards(const std::vector<advisor::RuleAdvice>& firing);
    void showEmptyState();
    void refreshCards();
    void showElsewhere();
    void leaveTrace();
    void stopRunAndMeasure(const advisor::RuleAdvice& advice);
    void connectSession();

    ViewContext m_context;
    QLabel* m_trouble = nullptr;
    QLabel* m_empty = nullptr;
    QLabel* m_basis = nullptr; ///< which steps the advice on a live trace is of
    QVBoxLayout* m_cardLayout = nullptr;
    std::map<std::string, FindingCard*> m_cards; ///< by rule
    FoldedList *m_notFound = nullptr, *m_cannotTell = nullptr;
    FoldedList* m_elsewhere = nullptr; ///< results of other trainings
    JournalList* m_journal = nullptr;
    std::optional<advisor::RuleAdvice> m_afterRun; ///< to be measured when the training has stopped
};

} // namespace app
