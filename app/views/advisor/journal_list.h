#pragma once

#include "app/services/journal_store.h"

#include <QWidget>

class QVBoxLayout;

namespace app {

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

} // namespace app
