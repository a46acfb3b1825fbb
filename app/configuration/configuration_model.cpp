#include "app/configuration/configuration_model.h"

#include "app/look/qstring.h"
#include "app/services/notices.h"

#include <algorithm>
#include <utility>

namespace app {

namespace {

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

} // namespace

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
