#pragma once

#include "app/services/remote_places.h"

#include <QDialog>

class QComboBox;
class QDialogButtonBox;
class QLineEdit;

namespace app {

/// Asks for a trace on another machine: the host, or a command that runs another one there, and the path.
class RemoteDialog : public QDialog {
    Q_OBJECT
public:
    explicit RemoteDialog(QWidget* parent);

signals:
    void chosen(const app::RemotePlace& place);

private:
    void takeRecent(int index);
    void showKind();
    void update();
    [[nodiscard]] RemotePlace place() const;

    QComboBox *m_recent, *m_kind, *m_host;
    QLineEdit* m_path;
    QDialogButtonBox* m_buttons;
};

} // namespace app
