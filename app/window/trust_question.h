#pragma once

#include "app/services/trust_store.h"

#include <QDialog>

namespace app {

/// Asks whether a model file or a program of the user may run: what and where it is, its SHA-256, and why this matters.
/// Closing the dialog cancels.
class TrustQuestion : public QDialog {
    Q_OBJECT
public:
    TrustQuestion(const CodeFile& file, QWidget* parent);

    [[nodiscard]] const CodeFile& file() const { return m_file; }

signals:
    /// Emitted once, before the dialog is deleted.
    void answered(app::TrustStore::Answer answer);

private:
    class QWidget* makeFacts(const CodeFile& file);
    class QWidget* makeButtons();

    CodeFile m_file;
    TrustStore::Answer m_answer = TrustStore::Answer::No;
};

} // namespace app
