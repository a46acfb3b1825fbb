#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <QStringList>
#include <vector>

namespace app {

/// A source file of a recorded Python program with its text at the time of the recording. Line numbers of the trace
/// refer to this text.
struct RecordedFile {
    QString path;
    QStringList lines; ///< lines without line ends; empty if the recorded text is not available, see `problem`
    QString problem;   ///< why there is no text; empty if there is
};

/// The user's source files in the trace, the script first. A file that differs from the recorded one only by a
/// Stepscope patch (whose original is kept) still counts. Reads files: do not call on the GUI thread.
std::vector<RecordedFile> recordedFiles(const profiler::Trace& trace);

/// The file with that path; null if it does not belong to the program.
const RecordedFile* findFile(const std::vector<RecordedFile>& files, const QString& path);

} // namespace app
