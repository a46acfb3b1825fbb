#pragma once

#include "app/services/background.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QLabel>
#include <QString>
#include <QToolButton>
#include <QWidget>
#include <string_view>

namespace app {

class ConfigurationModel;
class KnobEditor;

/// One row of the form: label, field, unit and reset button, and below them why the knob is disabled or why its value
/// was rejected.
class KnobRow : public QWidget {
    Q_OBJECT
public:
    KnobRow(const config::Knob& knob, ConfigurationModel* configuration, QWidget* parent);

    [[nodiscard]] const config::Knob& knob() const { return m_knob; }
    /// Shows its value and whether the knob has an effect; clears earlier errors.
    void showValue();
    void showDescription();
    /// Commits pending input.
    void enter();
    /// Why the text in the field was rejected; empty if it was accepted.
    [[nodiscard]] QString refusal() const;
    /// A note below the value with information from the trace on screen; empty: none.
    void setNote(const QString& text);
    /// A button next to the note; empty: none.
    void setAction(const QString& text, const QString& toolTip, bool enabled);
    [[nodiscard]] bool matches(const QString& words) const;
    [[nodiscard]] bool isChanged() const; ///< differs from the default
    /// It has an effect under the current choices.
    [[nodiscard]] bool hasEffect() const;

signals:
    void actionChosen();

protected:
    void changeEvent(QEvent* event) override;

private:
    void take(const QString& text);
    /// Marks the field and shows its error below it; empty: no error.
    void showProblem(const QString& why);
    void checkDataset();
    void showDefaultMark();
    void showWhyGrey();
    [[nodiscard]] const config::protocol::Description* machine() const; ///< null: unknown
    [[nodiscard]] QString toolTipText() const;

    bool m_isRefused = false; ///< the configuration rejected the text in the field
    const config::Knob& m_knob;
    ConfigurationModel* m_configuration;
    QLabel* m_label;
    KnobEditor* m_editor;
    QToolButton *m_reset, *m_action;
    QLabel *m_unit, *m_why, *m_error, *m_note;
    Background m_datasetCheck{this};
};

/// Why a knob has no effect under the current choices ("No effect unless Schedule is cyclic"); empty if it has an
/// effect.
QString whyNoEffect(std::string_view key, const config::TrainingConfig& configuration);

/// Why a knob cannot be used on this machine; empty if it can, or if the machine is not known yet.
/// @param description  null until the trainer has been queried
QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description);

} // namespace app
