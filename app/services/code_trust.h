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

} // namespace app
