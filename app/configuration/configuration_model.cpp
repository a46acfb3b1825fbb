#include "app/configuration/configuration_model.h"

#include "advisor/experiment/trainer_process.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>
#include <QUndoCommand>
#include <algorithm>
#include <functional>
#include <utility>

namespace app {

namespace {

/// An undo command that its owner applies and reverts.
class UndoStepCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const UndoStep& step, bool forth)>;

    UndoStepCommand(UndoStep step, Apply apply);

    [[nodiscard]] const UndoStep& step() const { return m_step; }
    void undo() override { m_apply(m_step, false); }
    void redo() override { m_apply(m_step, true); }
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    UndoStep m_step;
    Apply m_apply;
    QElapsedTimer m_since;
};

constexpr int kMostUndo = 200;

/// The problem that the value of `key` would cause on this machine, if any.
std::optional<QString> newProblem(const config::TrainingConfig& before, const config::TrainingConfig& after,
                                  std::string_view key, bool gpuAvailable)
{
    const auto known = before.problems(gpuAvailable);
    for (const config::ConfigError& problem : after.problems(gpuAvailable)) {
        const bool isNew =
            std::none_of(known.begin(), known.end(), [&](const auto& p) { return p.key == problem.key; });
        if (isNew && problem.key == key)
            return asQString(problem.message());
    }
    return std::nullopt;
}

// Quick successive edits, such as clicking a spin box five times, are one undo step.
constexpr qint64 kQuickMs = 1500;
constexpr int kByHandId = 1;

QString nameOf(const std::string& key)
{
    const config::Knob* knob = config::findKnob(key);
    return asQString(knob->label);
}

/// A rebuilt trainer may have new features, so its modification time is part of the name.
QString cacheFile(const std::filesystem::path& program)
{
    const QFileInfo info(QString::fromStdString(program.string()));
    const QByteArray identity = info.absoluteFilePath().toUtf8() + '\n' +
                                QByteArray::number(info.lastModified().toMSecsSinceEpoch()) + '\n' +
                                QByteArray::number(info.size());
    const QByteArray hash = QCryptographicHash::hash(identity, QCryptographicHash::Sha1).toHex();
    return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + "/describe-" +
           QString::fromLatin1(hash.left(16)) + ".json";
}

void remember(const QString& file, const config::protocol::Description& description)
{
    QDir().mkpath(QFileInfo(file).path());
    QSaveFile out(file);
    // A cache that cannot be written only delays the next start slightly.
    if (out.open(QIODevice::WriteOnly)) {
        out.write(QByteArray::fromStdString(config::protocol::toJson(description)));
        out.commit();
    }
}

} // namespace

UndoStep UndoStep::ofKnob(std::string key, std::string from, std::string to)
{
    UndoStep step;
    step.text = QCoreApplication::translate("UndoStep", "%1 = %2").arg(nameOf(key), QString::fromStdString(to));
    step.knobs = {{std::move(key), std::move(from), std::move(to)}};
    step.byHand = true;
    return step;
}

UndoStepCommand::UndoStepCommand(UndoStep step, Apply apply)
    : QUndoCommand(step.text), m_step(std::move(step)), m_apply(std::move(apply))
{
    m_since.start();
}

int UndoStepCommand::id() const
{
    return m_step.byHand ? kByHandId : -1;
}

bool UndoStepCommand::mergeWith(const QUndoCommand* other)
{
    const UndoStep& next = static_cast<const UndoStepCommand*>(other)->m_step;
    config::Difference& mine = m_step.knobs.front();
    if (next.knobs.front().key != mine.key || m_since.elapsed() > kQuickMs)
        return false;
    mine.b = next.knobs.front().b;
    m_since.start();
    m_step.text = next.text;
    setText(next.text);
    setObsolete(mine.a == mine.b);
    return true;
}

TrainerDescription::TrainerDescription(QObject* parent) : QObject(parent), m_thread(this) {}

TrainerDescription::~TrainerDescription()
{
    m_thread.cancel();
}

void TrainerDescription::refresh()
{
    const auto program = advisor::findTrainer();
    if (!program) {
        emit failed(program.error());
        return;
    }
    const QString file = cacheFile(*program);
    QFile cached(file);
    if (cached.open(QIODevice::ReadOnly))
        if (const auto description = config::protocol::parseDescription(cached.readAll().toStdString()))
            take(*description);
    m_thread.start(
        [this, program = *program, file](const std::stop_token& stop, const Background::Post& post) {
            const auto description = advisor::describeTrainer(program);
            if (stop.stop_requested())
                return;
            if (!description) {
                post([this, error = description.error()] { emit failed(error); });
                return;
            }
            remember(file, *description);
            post([this, description = *description] { take(description); });
        },
        [this](const profiler::Error& error) { emit failed(error); });
}

void TrainerDescription::take(const config::protocol::Description& description)
{
    m_description = description;
    m_known = true;
    emit changed();
}

ConfigurationModel::ConfigurationModel(Notices* notices) : m_notices(notices)
{
    m_undo.setUndoLimit(kMostUndo);
    connect(&m_description, &TrainerDescription::changed, this, &ConfigurationModel::descriptionChanged);
    connect(&m_description, &TrainerDescription::failed, this, [this](const profiler::Error& error) {
        emit m_notices->noticed(tr("Nothing can be trained: %1").arg(asQString(error.what.text)),
                                asQString(error.message()), true);
    });
}

std::optional<QString> ConfigurationModel::setKnob(std::string_view key, const QString& text)
{
    if (!config::findKnob(key))
        return tr("Unknown setting: %1.").arg(asQString(key));
    config::TrainingConfig changed = m_configuration;
    if (const auto set = changed.set(key, text.toStdString()); !set)
        return asQString(set.error().message());
    if (changed == m_configuration)
        return std::nullopt;
    if (descriptionKnown())
        if (auto problem = newProblem(m_configuration, changed, key, description().gpuAvailable))
            return problem;
    push(UndoStep::ofKnob(std::string(key), m_configuration.text(key), changed.text(key)));
    return std::nullopt;
}

void ConfigurationModel::set(const config::TrainingConfig& configuration, const QString& undoText)
{
    if (configuration == m_configuration)
        return;
    UndoStep step;
    step.text = undoText;
    step.knobs = config::difference(m_configuration, configuration);
    push(std::move(step));
}

void ConfigurationModel::load(const std::filesystem::path& path)
{
    emit m_notices->outdated();
    if (const auto loaded = config::TrainingConfig::load(path))
        setLoaded(path, *loaded);
    else
        refuse(asQString(loaded.error().message()));
}

void ConfigurationModel::setLoaded(const std::filesystem::path& path, const config::TrainingConfig& configuration)
{
    set(configuration, tr("configuration from %1").arg(asQString(path.filename().string())));
}

void ConfigurationModel::refuse(const QString& why)
{
    emit m_notices->noticed(tr("Invalid configuration. The current one is unchanged."), why, true);
}

void ConfigurationModel::push(UndoStep step)
{
    m_undo.push(new UndoStepCommand(std::move(step), [this](const UndoStep& done, bool forth) { apply(done, forth); }));
}

void ConfigurationModel::apply(const UndoStep& step, bool forth)
{
    if (m_restoring)
        return;
    bool isChanged = false;
    for (const config::Difference& knob : step.knobs)
        isChanged = m_configuration.set(knob.key, forth ? knob.b : knob.a).has_value() || isChanged;
    emit stepApplied(step, forth);
    if (isChanged)
        emit changed();
}

std::vector<UndoStep> ConfigurationModel::undoSteps() const
{
    std::vector<UndoStep> steps;
    for (int i = 0; i < m_undo.count(); ++i)
        steps.push_back(static_cast<const UndoStepCommand*>(m_undo.command(i))->step());
    return steps;
}

void ConfigurationModel::restore(const config::TrainingConfig& configuration, std::vector<UndoStep> steps, int undone)
{
    m_restoring = true;
    m_undo.clear();
    for (UndoStep& step : steps)
        push(std::move(step));
    m_undo.setIndex(m_undo.count() - undone);
    m_restoring = false;
    m_configuration = configuration;
    emit changed();
}

bool ConfigurationModel::commitEdits()
{
    m_vetoReason.clear();
    emit commitPendingEdits();
    if (m_vetoReason.isEmpty())
        return true;
    emit m_notices->noticed(tr("Not started: invalid setting."), m_vetoReason, true);
    return false;
}

} // namespace app
