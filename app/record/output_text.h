#pragma once

#include <QString>
#include <QStringView>

namespace app {

/// A program's output as a terminal shows it, as far as possible without a cursor. A carriage return goes back to the
/// start of the line and the following text replaces it, so that a progress bar stays on one line. Colours and other
/// escape sequences are left out. Output may be split anywhere between two calls.
class OutputText {
public:
    /// An edit of the displayed text.
    struct Change {
        qsizetype erased = 0; ///< characters to remove at the end, all from the last line
        QString added;        ///< text to append
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
    /// @return whether the character must be displayed
    bool isShown(QChar c);
    void control(QChar c);
    void write(QChar c);
    void eraseInLine();

    State m_state = State::Text;
    QString m_arguments; ///< of the control sequence
    QString m_line;      ///< the last line
    qsizetype m_column = 0;
    qsizetype m_kept = 0; ///< how much of the last line is already displayed
};

} // namespace app
