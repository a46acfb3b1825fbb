#pragma once

#include "app/findings/finding_card.h"

#include <QScrollArea>
#include <map>
#include <optional>

class QLabel;
class QVBoxLayout;

namespace app {

class CollapsibleList;
class JournalList;
struct Advised;

/// The steps that the advice on a live trace is based on; empty if the trace is complete.
QString basisText(const Advised& advice);

/// The advice for the trace on screen: cards for findings, collapsed lists for the rest, and the journal.
class AdvisorPanel : public QScrollArea {
    Q_OBJECT
public:
    AdvisorPanel(const FindingServices& services, QWidget* parent);

    /// Null: not analysed yet.
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
    void showOtherResults();
    void leaveTrace();
    void stopRunAndMeasure(const advisor::RuleAdvice& advice);
    void connectServices();

    FindingServices m_uses;
    QLabel* m_trouble = nullptr;
    QLabel* m_empty = nullptr;
    QLabel* m_basis = nullptr; ///< steps that the live advice is based on
    QVBoxLayout* m_cardLayout = nullptr;
    std::map<std::string, FindingCard*> m_cards; ///< by rule
    CollapsibleList *m_notFound = nullptr, *m_cannotTell = nullptr;
    CollapsibleList* m_otherResults = nullptr; ///< results of other trainings
    JournalList* m_kept = nullptr;
    std::optional<advisor::RuleAdvice> m_afterRun; ///< rule to measure when the training has stopped
};

} // namespace app
