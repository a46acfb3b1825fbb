#pragma once

#include <QString>
#include <QStringList>
#include <optional>

/// Opens a source file at a line in the user's editor.
namespace app {

/// The command that opens `file` at `line`: the program and its arguments. Tried in order: the setting "editor/command"
/// (a command line with {file} and {line} placeholders), the environment variable VISUAL, and the first known graphical
/// editor on PATH. Empty if there is none.
std::optional<QStringList> editorCommand(const QString& file, int line);

/// Starts that command without waiting for it. The desktop's "open" is never used because it would execute some file
/// types, and the path may come from somebody else's trace.
/// @return empty, or why the editor could not be started and what to do
QString openInEditor(const QString& file, int line);

} // namespace app
