#pragma once

#include "app/services/background.h"
#include "app/services/code_trust.h"

#include <QObject>
#include <functional>

namespace app {

/// Asks for permission before a trainer or program starts. The user's model files and scripts are code, so they run
/// only after the user allowed this path and content. GUI thread; the file is read on another thread.
class CodeGate : public QObject {
    Q_OBJECT
public:
    enum class Answer { No, Once, Trust };
    /// @param sha256  hash of the file that may be run; empty if there is none
    using Allowed = std::function<void(const QString& sha256)>;

    explicit CodeGate(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~CodeGate() override;

    /// Calls `allowed` immediately if no user code is run; otherwise later or never. A newer request replaces a waiting
    /// one.
    /// @param code  the code that would be run, not read yet; none: no user code
    void pass(const std::optional<CodeFile>& code, Allowed allowed);
    /// Answers asked(); ignored for another file or without a pending question.
    void answer(const CodeFile& file, Answer answer);

signals:
    void asked(const app::CodeFile& file);
    void failed(const profiler::Error& error);

private:
    void take(const profiler::Result<CodeFile>& read);

    Allowed m_allowed; ///< of the waiting request
    std::optional<CodeFile> m_asked;
    Background m_thread;
};

} // namespace app
