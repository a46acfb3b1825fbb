#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QString>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// A file of the user's that would be run: by a training, or as a program.
struct CodeFile {
    std::filesystem::path path; ///< absolute
    QString sha256;             ///< in lower-case hexadecimal
    qint64 bytes = 0;
    QString workload;                      ///< "torchscript" or "plugin"; empty: a program with a command
    QString command, folder;               ///< of a program: its command line, and where it runs
    std::optional<QDateTime> changedSince; ///< this path was trusted then, with another content

    [[nodiscard]] bool isProgram() const { return !command.isEmpty(); }
};

/// The file that a training of this configuration would run, not read yet; none when it runs only what the trainer has.
std::optional<CodeFile> codeOf(const config::TrainingConfig& configuration);

/// The file that a command would run, not read yet: its script where there is one, else the program itself.
/// @param folder  working directory; absolute
CodeFile codeOf(const std::vector<std::string>& command, const std::filesystem::path& folder);

/// Reads the file and hashes it. Any thread.
/// @return errors of reading; Cancelled after `stop`
profiler::Result<CodeFile> readCode(CodeFile code, const std::stop_token& stop);

/// Whether the user said once that this content at this path may be run; of a program, with this command in this
/// folder. Kept in the settings; what a configuration or a trace says of itself does not count, since it may come from
/// anywhere.
bool isTrusted(const CodeFile& file);
void trust(const CodeFile& file);

} // namespace app
