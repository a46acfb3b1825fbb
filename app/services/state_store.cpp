#include "app/services/state_store.h"

#include "app/configuration/configuration_model.h"
#include "app/look/display_text.h"
#include "app/services/experiment_result_json.h"
#include "app/services/journal.h"
#include "app/services/notices.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>
#include <system_error>
#include <utility>

namespace app {

namespace {

constexpr int kSaveMs = 300;

constexpr int kVersion = 1;

QJsonObject configurationJson(const config::TrainingConfig& configuration)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(configuration.toJson(false))).object();
}

QJsonObject changeJson(const KeptChange& change)
{
    QJsonObject json{{"rule", change.ruleId},
                     {"title", change.title},
                     {"toggle", toJson(change.toggle)},
                     {"result", toJson(change.result)}};
    if (change.isOfProgram())
        json["program"] = QJsonObject{{"id", change.program.id}, {"name", change.program.name}};
    return json;
}

std::optional<KeptChange> changeFrom(const QJsonObject& json)
{
    auto result = resultFromJson(json["result"].toObject());
    advisor::Toggle toggle = toggleFromJson(json["toggle"].toObject());
    const auto isKnown = [](const advisor::Toggle& change) { return config::findKnob(change.key) != nullptr; };
    // All of them are needed to undo the change.
    if (!result || !isKnown(toggle) || !std::ranges::all_of(result->plan.changes, isKnown))
        return std::nullopt;
    const QJsonObject program = json["program"].toObject(); // missing in files of earlier versions
    return KeptChange{json["rule"].toString(),
                      json["title"].toString(),
                      std::move(toggle),
                      std::move(*result),
                      {program["id"].toString(), program["name"].toString()}};
}

QJsonObject stepJson(const UndoStep& change)
{
    QJsonArray knobs;
    for (const config::Difference& knob : change.knobs)
        knobs << QJsonArray{asQString(knob.key), asQString(knob.a), asQString(knob.b)};
    QJsonObject json{{"text", change.text}, {"knobs", knobs}};
    if (!change.kept.empty()) {
        QJsonArray kept;
        for (const KeptChange& one : change.kept)
            kept << changeJson(one);
        json["kept"] = kept;
        json["leaves"] = change.leaves;
        json["place"] = static_cast<qint64>(change.place);
    }
    return json;
}

QJsonObject predictionJson(const MeasuredPrediction& prediction)
{
    QJsonArray changes;
    for (const advisor::Toggle& toggle : prediction.changes)
        changes << toJson(toggle);
    QJsonObject json{
        {"baseline", configurationJson(prediction.baseline)}, {"changes", changes}, {"held", prediction.held}};
    if (!prediction.program.isEmpty())
        json["program"] = prediction.program;
    if (!prediction.machine.isEmpty())
        json["machine"] = toJson(prediction.machine);
    return json;
}

std::optional<MeasuredPrediction> predictionFrom(const QJsonObject& json)
{
    const QByteArray text = QJsonDocument(json["baseline"].toObject()).toJson();
    auto baseline =
        config::TrainingConfig::fromJson(std::string_view(text.data(), static_cast<std::size_t>(text.size())));
    if (!baseline)
        return std::nullopt;
    MeasuredPrediction prediction{std::move(*baseline),
                                  {},
                                  json["held"].toBool(),
                                  json["program"].toString(),
                                  machineFromJson(json["machine"].toObject())}; // missing in files of earlier versions
    for (const QJsonValue toggle : json["changes"].toArray())
        prediction.changes.push_back(toggleFromJson(toggle.toObject()));
    return prediction;
}

/// Nullopt for a knob or value that is unknown to this version.
std::optional<UndoStep> stepFrom(const QJsonObject& json)
{
    UndoStep change;
    change.text = json["text"].toString();
    config::TrainingConfig probe;
    for (const QJsonValue knob : json["knobs"].toArray()) {
        const QJsonArray parts = knob.toArray();
        config::Difference one{parts.at(0).toString().toStdString(), parts.at(1).toString().toStdString(),
                               parts.at(2).toString().toStdString()};
        if (!config::findKnob(one.key) || !probe.set(one.key, one.a) || !probe.set(one.key, one.b))
            return std::nullopt;
        change.knobs.push_back(std::move(one));
    }
    if (json.contains("kept")) {
        // Files of an older version have a single entry without a list.
        const QJsonValue kept = json["kept"];
        for (const QJsonValue one : kept.isArray() ? kept.toArray() : QJsonArray{kept}) {
            auto read = changeFrom(one.toObject());
            if (!read)
                return std::nullopt;
            change.kept.push_back(std::move(*read));
        }
        change.leaves = json["leaves"].toBool();
        change.place = static_cast<std::size_t>(json["place"].toInteger());
    }
    return change;
}

profiler::Error unreadable(const std::filesystem::path& path, const std::string& why)
{
    return profiler::makeError<"session.unreadable", "the last session cannot be read: {why}">(
        profiler::Error::Code::Malformed, path.string(), "the app starts with defaults; your runs are not affected",
        {{"why", why}});
}

profiler::Result<std::optional<SavedState>> parse(const QByteArray& text, const std::filesystem::path& path)
{
    QJsonParseError wrong;
    const QJsonObject json = QJsonDocument::fromJson(text, &wrong).object();
    if (wrong.error != QJsonParseError::NoError)
        return tl::unexpected(
            unreadable(path, wrong.errorString().toStdString() + ", byte " + std::to_string(wrong.offset)));
    if (json["version"].toInt() != kVersion)
        return tl::unexpected(unreadable(path, "it was written by another version of Stepscope"));
    const QByteArray configuration = QJsonDocument(json["configuration"].toObject()).toJson();
    auto parsed = config::TrainingConfig::fromJson(
        std::string_view(configuration.data(), static_cast<std::size_t>(configuration.size())), "configuration");
    if (!parsed)
        return tl::unexpected(unreadable(path, parsed.error().message()));
    SavedState state;
    state.configuration = std::move(*parsed);
    for (const QJsonValue change : json["journal"].toArray()) {
        auto kept = changeFrom(change.toObject());
        if (!kept)
            return tl::unexpected(unreadable(path, "a kept change has unknown settings"));
        state.journal.changes.push_back(std::move(*kept));
    }
    // Unreadable predictions are ignored.
    for (const QJsonValue one : json["measured_predictions"].toArray())
        if (auto prediction = predictionFrom(one.toObject()))
            state.journal.predictions.push_back(std::move(*prediction));
    // Files of earlier versions store only their number, without their origin; the kept changes contain it.
    if (!json.contains("measured_predictions"))
        for (const KeptChange& change : state.journal.changes)
            if (auto prediction = measuredPrediction(change.result))
                state.journal.predictions.push_back(std::move(*prediction));
    for (const QJsonValue step : json["undo"].toArray()) {
        auto change = stepFrom(step.toObject());
        if (!change)
            return tl::unexpected(unreadable(path, "a change has unknown settings"));
        state.undo.push_back(std::move(*change));
    }
    state.undone = std::clamp(json["undone"].toInt(), 0, static_cast<int>(state.undo.size()));
    return state;
}

} // namespace

std::filesystem::path stateFile()
{
    return std::filesystem::path(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString()) /
           "session.json";
}

profiler::Result<void> saveState(const SavedState& state, const std::filesystem::path& path)
{
    QJsonArray journal, undo, predictions;
    for (const MeasuredPrediction& prediction : state.journal.predictions)
        predictions << predictionJson(prediction);
    for (const KeptChange& change : state.journal.changes)
        journal << changeJson(change);
    for (const UndoStep& change : state.undo)
        undo << stepJson(change);
    const QJsonObject json{{"version", kVersion}, {"configuration", configurationJson(state.configuration)},
                           {"journal", journal},  {"measured_predictions", predictions},
                           {"undo", undo},        {"undone", state.undone}};
    const QString name = QString::fromStdString(path.string());
    QDir().mkpath(QFileInfo(name).path());
    QSaveFile out(name);
    const QByteArray text = QJsonDocument(json).toJson();
    if (!out.open(QIODevice::WriteOnly) || out.write(text) != text.size() || !out.commit())
        return profiler::fail<"session.unwritten", "the session cannot be saved: {why}">(
            profiler::Error::Code::Io, path.string(), "check that the disk has free space and the folder is writable",
            {{"why", out.errorString().toStdString()}});
    return {};
}

profiler::Result<std::optional<SavedState>> loadState(const std::filesystem::path& path)
{
    QFile in(QString::fromStdString(path.string()));
    if (!in.exists())
        return std::nullopt;
    if (!in.open(QIODevice::ReadOnly))
        return tl::unexpected(unreadable(path, in.errorString().toStdString()));
    return parse(in.readAll(), path);
}

StateStore::StateStore(Notices* notices, ConfigurationModel* configuration, JournalStore* journal)
    : m_notices(notices), m_configuration(configuration), m_journal(journal)
{
    m_saveSoon.setSingleShot(true);
    m_saveSoon.setInterval(kSaveMs);
    connect(&m_saveSoon, &QTimer::timeout, this, &StateStore::save);
    connect(configuration, &ConfigurationModel::stepApplied, this, &StateStore::saveSoon);
    connect(journal, &JournalStore::predictionsAdded, this, &StateStore::saveSoon);
}

StateStore::~StateStore()
{
    if (m_saveSoon.isActive())
        save();
}

void StateStore::restore()
{
    const std::filesystem::path path = stateFile();
    QDir().mkpath(asQString(path.parent_path().string()));
    auto lock = profiler::os::LockFile::acquire(path.string() + ".lock");
    if (!lock) {
        emit m_notices->noticed(
            tr("Another Stepscope window is open. This window's settings and kept changes will not be saved."),
            asQString(path.string()), false);
        return;
    }
    m_lock = std::make_unique<profiler::os::LockFile>(std::move(*lock));
    auto kept = loadState(path);
    if (!kept) {
        std::error_code failed;
        std::filesystem::rename(path, path.string() + ".unreadable", failed);
        emit m_notices->noticed(asQString(kept.error().what.text), asQString(kept.error().message()), true);
        return;
    }
    if (!*kept)
        return;
    m_configuration->restore((*kept)->configuration, std::move((*kept)->undo), (*kept)->undone);
    m_journal->restore(std::move((*kept)->journal));
}

void StateStore::saveSoon()
{
    if (m_lock)
        m_saveSoon.start();
}

void StateStore::save()
{
    m_saveSoon.stop();
    if (!m_lock)
        return;
    const QUndoStack& undo = *m_configuration->undoStack();
    const SavedState state{m_configuration->get(), m_journal->all(), m_configuration->undoSteps(),
                           undo.count() - undo.index()};
    if (const auto saved = saveState(state, stateFile()); !saved)
        emit m_notices->noticed(tr("Changes could not be saved."), asQString(saved.error().message()), true);
}

} // namespace app
