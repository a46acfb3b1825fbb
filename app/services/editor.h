#pragma once

#include <QString>
#include <QStringList>
#include <optional>

/// Opens a source file of the user's at a line, in the editor that the user works with.
namespace app {

/// The command that opens `file` at `line`: the program and its arguments. The setting "editor/command" comes first (a
/// command line in which {file} and {line} are replaced), then the environment variable VISUAL, then the first
/// well-known graphical editor in PATH. Nothing where there is none.
std::optional<QStringList> editorCommand(const QString& file, int line);

/// Starts that command and does not wait for it. A file is never handed to the desktop's own "open": that would run
/// some kinds of files, and the path may come from a trace of somebody else.
/// @return empty, or why the editor could not be started and what to do
QString openInEditor(const QString& file, int line);

} // namespace app
