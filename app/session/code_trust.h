#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QString>
#include <filesystem>
#include <optional>
#include <stop_token>

namespace app {

/// A file of the user's that a training would run.
struct CodeFile {
    std::filesystem::path path; ///< absolute
    QString sha256;             ///< in lower-case hexadecimal
    qint64 bytes = 0;
    QString workload;                      ///< "torchscript" or "plugin"
    std::optional<QDateTime> changedSince; ///< this path was trusted then, with another content
};

/// The path of the file that a training of this configuration would run; none when it runs only what the trainer has.
std::optional<std::filesystem::path> codePath(const config::TrainingConfig& configuration);

/// Reads the file and hashes it. Any thread.
/// @return errors of reading; Cancelled after `stop`
profiler::Result<CodeFile> readCode(const config::TrainingConfig& configuration, const std::stop_token& stop);

/// Whether the user said once that this content at this path may be run. Kept in the settings; what a configuration
/// says of itself does not count, since it may come from anywhere.
bool isTrusted(const CodeFile& file);
void trust(const CodeFile& file);

} // namespace app
