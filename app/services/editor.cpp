#include "app/services/editor.h"

#include "app/services/program_process.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>

namespace app {

namespace {

struct EditorText {
    Q_DECLARE_TR_FUNCTIONS(Editor)
};

struct Editor {
    const char* program;
    const char* arguments; ///< arguments separated by spaces
};
constexpr Editor kEditors[] = {
    {"code", "--goto {file}:{line}"},
    {"codium", "--goto {file}:{line}"},
    {"cursor", "--goto {file}:{line}"},
    {"pycharm", "--line {line} {file}"},
    {"zed", "{file}:{line}"},
    {"subl", "{file}:{line}"},
    {"kate", "--line {line} {file}"},
    {"gnome-text-editor", "+{line} {file}"},
    {"gedit", "+{line} {file}"},
    {"xed", "+{line} {file}"},
    {"geany", "+{line} {file}"},
    {"gvim", "+{line} {file}"},
    {"emacs", "+{line} {file}"},
    {"kwrite", "--line {line} {file}"},
    {"mousepad", "--line {line} {file}"},
};

QStringList filledIn(QStringList words, const QString& file, int line)
{
    for (QString& word : words)
        word.replace("{line}", QString::number(line)).replace("{file}", file);
    return words;
}

const Editor* knownEditor(const QString& program)
{
    const QString name = QFileInfo(program).fileName();
    for (const Editor& editor : kEditors)
        if (name == QLatin1String(editor.program))
            return &editor;
    return nullptr;
}

QStringList commandOf(const QString& program, const Editor& editor, const QString& file, int line)
{
    return filledIn(QStringList{program} + QString(editor.arguments).split(' '), file, line);
}

} // namespace

std::optional<QStringList> editorCommand(const QString& file, int line)
{
    const QString own = QSettings().value("editor/command").toString();
    if (QStringList words = QProcess::splitCommand(own); !words.isEmpty()) {
        if (!own.contains("{file}"))
            words << "{file}";
        return filledIn(words, file, line);
    }
    const QStringList visual = QProcess::splitCommand(qEnvironmentVariable("VISUAL"));
    if (const Editor* known = visual.isEmpty() ? nullptr : knownEditor(visual.first()))
        return commandOf(visual.first(), *known, file, line);
    for (const Editor& editor : kEditors)
        if (const QString found = QStandardPaths::findExecutable(editor.program); !found.isEmpty())
            return commandOf(found, editor, file, line);
    return std::nullopt;
}

QString openInEditor(const QString& file, int line)
{
    if (!QFileInfo(file).isAbsolute() || !QFileInfo(file).isFile())
        return EditorText::tr("%1 does not exist on this machine. The trace may have been recorded on another "
                              "one.")
            .arg(file);
    const auto command = editorCommand(file, line);
    if (!command)
        return EditorText::tr("No editor found. Set the environment variable VISUAL to a graphical editor, for example "
                              "VISUAL=code, and start Stepscope again.");
    if (!startIndependently(*command))
        return EditorText::tr("Could not start %1. Check the environment variable VISUAL.").arg(command->first());
    return {};
}

} // namespace app
