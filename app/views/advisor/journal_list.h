#pragma once

#include "app/session/session.h"

#include <QWidget>

class QVBoxLayout;

namespace app {

/// The changes that were kept, from the naive run to now: what each was predicted to save, what it was measured to, and
/// a way to take it back.
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
