#pragma once

#include "app/session/background.h"
#include "app/session/session.h"

#include <QLabel>
#include <QToolButton>
#include <QWidget>

namespace app {

class KnobEditor;

/// One line of the form: label, field, unit, a way back to the default, and underneath why it is grey or what is wrong
/// with a refused value.
class KnobRow : public QWidget {
    Q_OBJECT
public:
    KnobRow(const config::Knob& knob, Session* session, QWidget* parent);

    [[nodiscard]] const config::Knob& knob() const { return m_knob; }
    /// Shows the session's value, and whether it does anything; what was refused before is forgotten.
    void showValue();
    void showDescription();
    /// Takes what is typed and not entered yet.
    void enter();
    /// Why what stands in the field was not taken; empty: it was.
    [[nodiscard]] QString refusal() const;
    /// A sentence below the value, of what is known of it in the run on screen; empty: none.
    void setNote(const QString& text);
    /// A button beside the note; empty: none.
    void setAction(const QString& text, const QString& toolTip, bool enabled);
    [[nodiscard]] bool matches(const QString& words) const;
    [[nodiscard]] bool isChanged() const; ///< differs from the default
    /// It does something with the other choices as they are.
    [[nodiscard]] bool hasEffect() const;

signals:
    void actionChosen();

protected:
    void changeEvent(QEvent* event) override;

private:
    void take(const QString& text);
    /// Marks the field and says below it what is wrong with its value; empty: nothing is.
    void showProblem(const QString& why);
    void checkDataset();
    void showDefaultMark();
    void showWhyGrey();
    [[nodiscard]] const config::protocol::Description* machine() const; ///< null: not known yet
    [[nodiscard]] QString toolTipText() const;

    bool m_isRefused = false; ///< the field holds a text that the configuration did not take
    const config::Knob& m_knob;
    Session* m_session;
    QLabel* m_label;
    KnobEditor* m_editor;
    QToolButton *m_reset, *m_action;
    QLabel *m_unit, *m_why, *m_error, *m_note;
    Background m_datasetCheck{this};
};

} // namespace app
