#pragma once

#include "app/session/session.h"

#include <QWidget>

class QVBoxLayout;

namespace app {

/// The changes that were kept, from the naive run to now: what each was predicted to save, what it was measured to.
class JournalList : public QWidget {
    Q_OBJECT
public:
    JournalList(Session* session, QWidget* parent);

private:
    void showChanges();
    void addRow(double factor, double most, const QString& what, const QString& detail);

    Session* m_session;
    QWidget* m_rows = nullptr;
    QVBoxLayout* m_layout = nullptr;
};

} // namespace app
