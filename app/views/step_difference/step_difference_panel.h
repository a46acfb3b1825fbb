#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QStackedWidget;

namespace app {

class EvidenceTable;
class TracePair;
struct EvidenceRow;

/// What differs between the current step of two traces that are shown side by side: phases, kernels, copies and
/// operators with their times in both. A row selects its longest slice.
class StepDifferencePanel : public QWidget {
    Q_OBJECT
public:
    StepDifferencePanel(TracePair* pair, QWidget* parent);

private:
    void showDifference();
    void showRow(const EvidenceRow& row);
    [[nodiscard]] QString whyEmpty() const;

    TracePair* m_pair;
    QStackedWidget* m_pages;
    QLabel *m_title, *m_empty;
    QComboBox* m_what;
    EvidenceTable* m_table;
};

} // namespace app
