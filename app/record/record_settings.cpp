#include "app/record/record_settings.h"

#include "advisor/evidence/program_facts.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSettings>
#include <algorithm>
#include <utility>

namespace app {

namespace {

constexpr qsizetype kMostCommands = 20;
constexpr auto kCommands = "record/commands";

/// A key of the settings for what `text` identifies; it may contain slashes, which would create groups.
QString keyOf(QLatin1String group, const QByteArray& text)
{
    const QByteArray hash = QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex().left(32);
    return QStringLiteral("record/%1/%2").arg(group, QString::fromLatin1(hash));
}

QString environmentKey(const std::string& command, const std::string& folder)
{
    return keyOf(QLatin1String("environments"),
                 QByteArray::fromStdString(command) + '\0' + QByteArray::fromStdString(folder));
}

QString optionsKey(const std::filesystem::path& script)
{
    return keyOf(QLatin1String("options"), QByteArray::fromStdString(script.string()));
}

constexpr int kLimitMs = 30'000; ///< importing torch takes seconds, more on a busy machine
constexpr qint64 kMostBytes = 1 << 20;
constexpr std::size_t kMostOptions = 300; ///< Hugging Face's parser has about 150 options

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

std::vector<CommandOption> optionsOfHelp(const QString& text)
{
    // "  -w N, --workers N  how many"; the help text may start on the next line.
    static const QRegularExpression kOption(
        R"(^ {1,4}(?:-\w(?: \S+)?, )?(--[A-Za-z][\w.-]*)(?:[ =](\S+(?: \.\.\.)?))?(?:, --\S+(?: \S+)?)*(?:\s{2,}(.*))?$)");
    std::vector<CommandOption> options;
    if (!text.contains("usage:"))
        return options;
    bool wantsHelp = false;
    for (const QString& line : text.split('\n')) {
        if (const auto match = kOption.match(line); match.hasMatch() && options.size() < kMostOptions) {
            const QString name = match.captured(1);
            wantsHelp = false;
            if (name == "--help" || name == "--version")
                continue;
            options.push_back({name, match.captured(2), match.captured(3).trimmed()});
            wantsHelp = options.back().help.isEmpty();
        } else if (wantsHelp && line.startsWith("      ")) {
            options.back().help = line.trimmed();
            wantsHelp = false;
        } else {
            wantsHelp = false;
        }
    }
    return options;
}

std::vector<CommandOption> optionsOfTrace(const profiler::Trace& trace)
{
    std::vector<CommandOption> options;
    const auto facts = advisor::programOf(trace).facts;
    if (!facts)
        return options;
    for (const advisor::ProgramArgument& argument : facts->arguments) {
        const auto name = std::find_if(argument.options.begin(), argument.options.end(),
                                       [](const std::string& option) { return option.starts_with("--"); });
        if (name == argument.options.end() || options.size() == kMostOptions)
            continue;
        const bool isFlag = argument.value.is_boolean();
        options.push_back({QString::fromStdString(*name),
                           isFlag ? QString() : QString::fromStdString(advisor::settingText(argument.value)),
                           {}});
    }
    return options;
}

std::vector<CommandOption> rememberedOptions(const std::filesystem::path& script)
{
    std::vector<CommandOption> options;
    const QStringList kept = QSettings().value(optionsKey(script)).toStringList();
    for (qsizetype i = 0; i + 2 < kept.size(); i += 3)
        options.push_back({kept[i], kept[i + 1], kept[i + 2]});
    return options;
}

void rememberOptions(const std::filesystem::path& script, const std::vector<CommandOption>& options)
{
    QStringList kept;
    for (const CommandOption& option : options)
        kept << option.name << option.takes << option.help;
    QSettings().setValue(optionsKey(script), kept);
}

bool parsesWithArgparse(const std::filesystem::path& script)
{
    QFile file(QString::fromStdString(script.string()));
    if (script.extension() != ".py" || !QFileInfo(file).isFile() || !file.open(QIODevice::ReadOnly))
        return false;
    const QByteArray text = file.read(kMostBytes);
    return text.contains("ArgumentParser(") && text.contains("parse_");
}

HelpRunner::HelpRunner(QObject* parent) : QObject(parent)
{
    m_limit.setSingleShot(true);
    m_limit.setInterval(kLimitMs);
    connect(&m_limit, &QTimer::timeout, &m_process, &ProgramProcess::kill);
    connect(&m_process, &ProgramProcess::output, this, [this](const QString& text) {
        if (m_output.size() < kMostBytes)
            m_output += text;
    });
    connect(&m_process, &ProgramProcess::ended, this, [this] {
        m_limit.stop();
        emit ended(optionsOfHelp(m_output));
    });
    connect(&m_process, &ProgramProcess::failedToStart, this, [this] {
        m_limit.stop();
        emit ended({});
    });
}

void HelpRunner::run(const RecordRequest& request)
{
    if (isRunning() || request.command.empty())
        return;
    QStringList arguments;
    for (std::size_t i = 1; i < request.command.size(); ++i)
        arguments << QString::fromStdString(request.command[i]);
    std::vector<std::string> environment{"COLUMNS=200"}; // argparse wraps lines to this width
    environment.insert(environment.end(), request.environment.begin(), request.environment.end());
    m_output.clear();
    m_limit.start();
    m_process.start({QString::fromStdString(request.command.front()), arguments << "--help", request.folder,
                     std::move(environment), false});
}

} // namespace app
