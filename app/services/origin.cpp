#include "app/services/origin.h"

#include "advisor/runner/shell_words.h"
#include "app/look/display_text.h"
#include "profiler/model/trace.h"
#include "profiler/os/machine.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>
#include <algorithm>
#include <string_view>

namespace app {

namespace {

constexpr qsizetype kMostNamed = 2; ///< listed settings; more are only counted

struct OriginTexts {
    Q_DECLARE_TR_FUNCTIONS(Origin)
};

bool isOfMeasurement(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    return knob && knob->isOfMeasurement;
}

QString hashOf(const QStringList& parts)
{
    const QByteArray hash = QCryptographicHash::hash(parts.join(QChar(0)).toUtf8(), QCryptographicHash::Sha256);
    return QString::fromLatin1(hash.toHex().left(32));
}

QString metadataOf(const profiler::Trace& trace, const char* key)
{
    const auto found = trace.metadata().find(key);
    return found == trace.metadata().end() ? QString() : QString::fromStdString(found->second);
}

/// A command with the base name of its program: the path of an interpreter says nothing about what it runs.
QString withoutFolder(const QString& command)
{
    auto words = advisor::runner::shellWords(command.toStdString());
    if (!words || words->empty())
        return command;
    words->front() = std::filesystem::path(words->front()).filename().string();
    return QString::fromStdString(advisor::runner::commandLine(*words));
}

/// Names of the devices in a trace, or of its trainer's device: "cpu" if there was no other.
QStringList devicesOf(const profiler::Trace& trace)
{
    QStringList devices;
    for (const profiler::Device& device : trace.devices())
        if (!device.name.empty())
            devices << QString::fromStdString(device.name);
    if (const QString named = metadataOf(trace, "device"); devices.isEmpty() && !named.isEmpty())
        devices << named;
    return devices;
}

/// Hashes by path of the user's files in a recorded Python program.
QStringList sourcesOf(const profiler::Trace& trace)
{
    QStringList sources;
    const auto program = QJsonDocument::fromJson(metadataOf(trace, "program").toUtf8()).object();
    for (const QJsonValue file : program["files"].toArray())
        sources << file["path"].toString() + '=' + file["sha256"].toString();
    sources.sort();
    return sources;
}

} // namespace

std::vector<config::Difference> differenceOfOrigin(const config::TrainingConfig& a, const config::TrainingConfig& b)
{
    auto all = config::difference(a, b);
    std::erase_if(all, [](const config::Difference& one) { return isOfMeasurement(one.key); });
    return all;
}

Origin originOf(const config::TrainingConfig& configuration)
{
    Origin origin;
    const auto changed = differenceOfOrigin(config::TrainingConfig(), configuration);
    QStringList identity, named;
    for (const config::Difference& one : changed) {
        identity << QString::fromStdString(one.key + '=' + one.b);
        const config::Knob* knob = config::findKnob(one.key);
        if (one.key != config::key::workload.name)
            named << QString("%1 = %2").arg(asQString(knob ? knob->label : std::string_view(one.key)),
                                            asQString(one.b));
    }
    origin.id = hashOf(QStringList{"configuration"} + identity);
    origin.name = QString::fromStdString(configuration[config::key::workload]);
    if (named.size() > kMostNamed)
        origin.name += OriginTexts::tr(" · %1 settings changed").arg(named.size());
    else if (!named.isEmpty())
        origin.name += " · " + named.join(", ");
    else
        origin.name += OriginTexts::tr(" · all defaults");
    return origin;
}

Origin originOf(const profiler::Trace& trace, const std::filesystem::path& file)
{
    if (const auto text = metadataOf(trace, "config"); !text.isEmpty())
        if (const auto configuration = config::TrainingConfig::fromJson(text.toStdString()))
            return originOf(*configuration);
    if (const QString command = metadataOf(trace, "record.command"); !command.isEmpty())
        return {hashOf(QStringList{"program", command, metadataOf(trace, "record.directory")} + sourcesOf(trace)),
                withoutFolder(command)};
    if (file.empty())
        return {};
    return {hashOf({"file", QString::fromStdString(file.string())}), QString::fromStdString(file.filename().string())};
}

advisor::Machine thisMachine()
{
    static const std::string processor = profiler::os::processorName();
    return {processor, {}};
}

bool isMachineOf(const advisor::Machine& machine, const profiler::Trace& trace)
{
    const QString processor = metadataOf(trace, "host.cpu"), measured = QString::fromStdString(machine.processor);
    const bool isNamed = !processor.isEmpty() && processor != "unknown"; // format of earlier versions
    if (isNamed && !measured.isEmpty() && processor != measured)
        return false;
    const QStringList devices = devicesOf(trace);
    return devices.isEmpty() || machine.device.empty() || devices.contains(QString::fromStdString(machine.device));
}

QString machineText(const advisor::Machine& machine)
{
    QStringList parts;
    if (!machine.processor.empty())
        parts << QString::fromStdString(machine.processor);
    if (!machine.device.empty() && machine.device != "cpu")
        parts << QString::fromStdString(machine.device);
    return parts.join(", ");
}

bool belongsTo(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
               std::span<const advisor::Toggle> changes)
{
    const auto differing = differenceOfOrigin(baseline, shown);
    return std::all_of(differing.begin(), differing.end(), [&](const config::Difference& one) {
        const auto isMeasured = [&](const std::string& value) {
            return std::any_of(changes.begin(), changes.end(), [&](const advisor::Toggle& change) {
                return change.key == one.key && (change.from == value || change.to == value);
            });
        };
        return isMeasured(one.a) && isMeasured(one.b);
    });
}

} // namespace app
