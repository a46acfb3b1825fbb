#pragma once

#include "app/document/session.h"

#include <QWidget>

class QVBoxLayout;

namespace app {

/// The kept changes from the first run to now: the predicted and the measured saving of each, and a button to undo it.
class JournalList : public QWidget {
    Q_OBJECT
public:
    JournalList(Session* session, QWidget* parent);

private:
    void showChanges();
    void addChange(const KeptChange& change, double factor, double most);

    Session* m_session;
    QWidget* m_rows = nullptr;
    QVBoxLayout* m_layout = nullptr;
};

} // namespace app
