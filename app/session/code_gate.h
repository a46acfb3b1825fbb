#pragma once

#include "app/session/background.h"
#include "app/session/code_trust.h"

#include <QObject>
#include <functional>

namespace app {

/// Stands before everything that starts a trainer or a program: a model file and a script of the user's are code, so
/// they run only when the user said so for this path and content. GUI thread; the file is read elsewhere.
class CodeGate : public QObject {
    Q_OBJECT
public:
    enum class Answer { No, Once, Trust };
    /// @param sha256  of the file that may be run; empty when there is none
    using Allowed = std::function<void(const QString& sha256)>;

    explicit CodeGate(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~CodeGate() override;

    /// Calls `allowed` at once when nothing of the user's is run; else later, or never. A newer wish replaces one that
    /// is waiting.
    /// @param code  what would be run, not read yet; none: nothing of the user's
    void pass(const std::optional<CodeFile>& code, Allowed allowed);
    /// To what asked() asked; for another file, or without a question, nothing happens.
    void answer(const CodeFile& file, Answer answer);

signals:
    void asked(const app::CodeFile& file);
    void failed(const profiler::Error& error);

private:
    void take(const profiler::Result<CodeFile>& read);

    Allowed m_allowed; ///< of the wish that waits
    std::optional<CodeFile> m_asked;
    Background m_thread;
};

} // namespace app
