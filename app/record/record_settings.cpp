#include "app/record/record_settings.h"

#include <QSettings>

namespace app {

namespace {

constexpr qsizetype kMostCommands = 20;
constexpr auto kCommands = "record/commands";

} // namespace

RecordSettings recordSettings()
{
    const QSettings kept;
    RecordSettings settings;
    settings.folder = kept.value("record/folder").toString();
    settings.environment = kept.value("record/environment").toString();
    settings.level = kept.value("record/level", settings.level).toString();
    settings.part = kept.value("record/part", settings.part).toBool();
    settings.after = kept.value("record/after", settings.after).toDouble();
    settings.seconds = kept.value("record/seconds", settings.seconds).toDouble();
    settings.python = kept.value("record/python", settings.python).toBool();
    settings.operators = kept.value("record/operators", settings.operators).toBool();
    settings.windows = kept.value("record/windows", settings.windows).toBool();
    settings.every = kept.value("record/every", settings.every).toInt();
    settings.window = kept.value("record/window", settings.window).toInt();
    return settings;
}

void keepRecordSettings(const RecordSettings& settings)
{
    QSettings kept;
    kept.setValue("record/folder", settings.folder);
    kept.setValue("record/environment", settings.environment);
    kept.setValue("record/level", settings.level);
    kept.setValue("record/part", settings.part);
    kept.setValue("record/after", settings.after);
    kept.setValue("record/seconds", settings.seconds);
    kept.setValue("record/python", settings.python);
    kept.setValue("record/operators", settings.operators);
    kept.setValue("record/windows", settings.windows);
    kept.setValue("record/every", settings.every);
    kept.setValue("record/window", settings.window);
}

QStringList recordedCommands()
{
    return QSettings().value(kCommands).toStringList();
}

void rememberCommand(const QString& line)
{
    QStringList commands = recordedCommands();
    commands.removeAll(line);
    commands.prepend(line);
    QSettings().setValue(kCommands, QStringList(commands.mid(0, kMostCommands)));
}

void forgetCommands()
{
    QSettings().remove(kCommands);
}

} // namespace app
