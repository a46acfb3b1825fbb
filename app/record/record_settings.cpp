#include "app/record/record_settings.h"

#include <QCryptographicHash>
#include <QSettings>

namespace app {

namespace {

constexpr qsizetype kMostCommands = 20;
constexpr auto kCommands = "record/commands";

QString environmentKey(const std::string& command, const std::string& folder)
{
    const QByteArray text = QByteArray::fromStdString(command) + '\0' + QByteArray::fromStdString(folder);
    return "record/environments/" +
           QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex().left(32));
}

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

std::vector<std::string> recordedEnvironment(const std::string& command, const std::string& folder)
{
    std::vector<std::string> environment;
    for (const QString& entry : QSettings().value(environmentKey(command, folder)).toStringList())
        environment.push_back(entry.toStdString());
    return environment;
}

void rememberEnvironment(const std::string& command, const std::string& folder,
                         const std::vector<std::string>& environment)
{
    QStringList entries;
    for (const std::string& entry : environment)
        entries << QString::fromStdString(entry);
    if (entries.isEmpty())
        QSettings().remove(environmentKey(command, folder));
    else
        QSettings().setValue(environmentKey(command, folder), entries);
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
    QSettings().remove("record/environments");
    QSettings().remove("record/options");
}

} // namespace app
