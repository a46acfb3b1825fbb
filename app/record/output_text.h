#pragma once

#include <QString>
#include <QStringView>

namespace app {

/// A program's output as a terminal shows it, as far as text without a cursor can: a carriage return goes back to the
/// beginning of the line, and what comes then takes the place of what stood there, so that a progress bar stays one
/// line; colours and other escape sequences are left out. Output may be cut anywhere between two calls.
class OutputText {
public:
    /// What becomes of the text that is shown.
    struct Change {
        qsizetype erased = 0; ///< characters at its end, all of its last line
        QString added;        ///< behind what is left
        friend bool operator==(const Change&, const Change&) = default;
    };

    Change take(QStringView output);

private:
    enum class State {
        Text,
        Escape,   ///< after ESC
        Control,  ///< in a control sequence, ESC [
        String,   ///< in a string that BEL or ESC \ ends: ESC ], P, X, ^ and _
        StringEnd ///< after the ESC of that
    };
    /// @return whether the character is to be shown
    bool isShown(QChar c);
    void control(QChar c);
    void write(QChar c);
    void eraseInLine();

    State m_state = State::Text;
    QString m_arguments; ///< of the control sequence
    QString m_line;      ///< the last line
    qsizetype m_column = 0;
    qsizetype m_kept = 0; ///< of the last line, how much is shown already
};

} // namespace app
