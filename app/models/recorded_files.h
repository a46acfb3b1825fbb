#pragma once

#include "profiler/model/trace.h"

#include <QString>
#include <QStringList>
#include <vector>

namespace app {

/// A file of a recorded Python program, with the text that it had when the program was recorded: lines of the trace are
/// lines of this text.
struct RecordedFile {
    QString path;
    QStringList lines; ///< without line ends; empty: the recorded text is not there, see `problem`
    QString problem;   ///< why there is no text; empty: there is one
};

/// The user's files that the trace names, the script first. A file whose content is not the recorded one counts where
/// the difference is a patch of ours, whose original is kept. Reads files: not for the GUI thread.
std::vector<RecordedFile> recordedFiles(const profiler::Trace& trace);

/// The file of that path; null: it is not one of the program's.
const RecordedFile* findFile(const std::vector<RecordedFile>& files, const QString& path);

} // namespace app
