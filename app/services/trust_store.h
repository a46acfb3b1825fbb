#pragma once

#include "advisor/runner/workspace.h"
#include "app/services/background.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QObject>
#include <QString>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

/// The user's code runs only after the user has allowed it: which file a training or a command would run, and who asks
/// and remembers the answer.
namespace app {

class ConfigurationModel;
class Notices;

/// A user file that would be run, by a training or as a program.
struct CodeFile {
    std::filesystem::path path; ///< absolute
    QString sha256;             ///< in lower-case hexadecimal
    qint64 bytes = 0;
    QString workload;                      ///< "torchscript" or "plugin"; empty: a program with a command
    QString command, folder;               ///< for a program: its command line and its working directory
    std::optional<QDateTime> changedSince; ///< when this path was trusted with different content

    [[nodiscard]] bool isProgram() const { return !command.isEmpty(); }
};

/// The file that a training with this configuration would run, not read yet; none if it runs only the trainer's own
/// code.
std::optional<CodeFile> codeOf(const config::TrainingConfig& configuration);

/// The file that a command would run, not read yet: its script if there is one, otherwise the program.
/// @param folder  working directory; absolute
CodeFile codeOf(const std::vector<std::string>& command, const std::filesystem::path& folder);

/// Reads the file and hashes it. Any thread.
/// @return errors of reading; Cancelled after `stop`
profiler::Result<CodeFile> readCode(CodeFile code, const std::stop_token& stop);

/// Whether the user has allowed this content at this path to run (for a program: with this command in this folder).
/// Stored in the settings. Claims in a configuration or trace do not count, because these files may come from anywhere.
bool isTrusted(const CodeFile& file);
void trust(const CodeFile& file);

/// Asks for permission before a trainer or program starts, and remembers the answers. The user's model files and
/// scripts are code, so they run only after the user allowed this path and content. GUI thread; files are read on
/// another thread.
class TrustStore : public QObject {
    Q_OBJECT
public:
    enum class Answer { No, Once, Trust };

    TrustStore(Notices* notices, ConfigurationModel* configuration);
    ~TrustStore() override;

    // Each of these calls `go` immediately if no user code is run or the user has allowed it before; otherwise later or
    // never. A newer request replaces a waiting one.

    /// For a training with the current configuration. Sets the hashes of the allowed files in it: the trainer runs only
    /// files with these hashes.
    void passTraining(std::function<void()> go);
    /// For a command and the content of its script.
    /// @param folder  working directory; absolute
    void passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                     std::function<void()> go);
    /// Decides how the user's files are protected from a measured program; asks once if this needs a copy of them.
    void passIsolation(const std::filesystem::path& folder, const std::function<void(advisor::runner::Isolation)>& go);

    /// Answers codeAsked(); ignored for another file or without a pending question.
    void answerCode(const CodeFile& file, Answer answer);
    /// Answers copyAsked(); a positive answer is remembered.
    void answerCopy(bool allowed);

signals:
    /// Asks whether this file may be run. Nothing starts until answerCode().
    void codeAsked(const app::CodeFile& file);
    /// This machine cannot give the program a private view of the user's files. Asks whether to run it in a copy of its
    /// working directory. Nothing starts until answerCopy().
    /// @param why  reason, one sentence
    void copyAsked(const QString& folder, const QString& why);

private:
    /// @param sha256  hash of the file that may be run; empty if there is none
    using Allowed = std::function<void(const QString& sha256)>;
    void pass(const std::optional<CodeFile>& code, Allowed allowed);
    void passPackage(const std::function<void()>& go);
    void take(const profiler::Result<CodeFile>& read);

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    Allowed m_allowed;                                                ///< of the waiting request
    std::optional<CodeFile> m_asked;                                  ///< the file of codeAsked()
    std::function<void(advisor::runner::Isolation)> m_afterCopyAsked; ///< the request behind copyAsked()
    Background m_thread{this};
};

} // namespace app
