#pragma once

#include "advisor/rule.h"
#include "app/findings/finding_card.h"
#include "app/services/journal.h"

#include <QScrollArea>
#include <QWidget>
#include <map>
#include <optional>
#include <vector>

class QLabel;
class QVBoxLayout;

/// The view of the advice for the trace on screen, with the journal of kept changes.
namespace app {

class CollapsibleList;
struct Advised;

/// The steps that the advice on a live trace is based on; empty if the trace is complete.
QString basisText(const Advised& advice);

/// The kept changes from the first run to now: the predicted and the measured saving of each, and a button to undo it.
class JournalList : public QWidget {
    Q_OBJECT
public:
    JournalList(JournalStore* journal, QWidget* parent);

private:
    void showChanges();
    void addChange(const KeptChange& change, double factor, double most);

    JournalStore* m_journal;
    QWidget* m_rows = nullptr;
    QVBoxLayout* m_layout = nullptr;
};

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
