#include "app/record/output_text.h"

#include <algorithm>

namespace app {

namespace {
constexpr QChar kEscape(0x1b), kBell(0x07), kBackspace(0x08);
constexpr qsizetype kMostArguments = 64; ///< longer control sequences are not recognized
} // namespace

OutputText::Change OutputText::take(QStringView output)
{
    Change change;
    const qsizetype shown = m_kept = m_line.size();
    bool same = true; // still the last line of the previous text
    for (const QChar c : output) {
        if (!isShown(c))
            continue;
        if (c != u'\n') {
            write(c);
            continue;
        }
        if (same)
            change.erased = shown - m_kept;
        same = false;
        change.added += QStringView(m_line).mid(m_kept);
        change.added += c;
        m_line.clear();
        m_column = m_kept = 0;
    }
    if (same)
        change.erased = shown - m_kept;
    change.added += QStringView(m_line).mid(m_kept);
    return change;
}

bool OutputText::isShown(QChar c)
{
    switch (m_state) {
    case State::Text:
        if (c == kEscape)
            m_state = State::Escape;
        return c != kEscape;
    case State::Escape:
        m_arguments.clear();
        m_state = c == u'['                                                       ? State::Control
                  : c == u']' || c == u'P' || c == u'X' || c == u'^' || c == u'_' ? State::String
                  : c >= u' ' && c <= u'/'                                        ? State::Escape // another line starts
                                                                                  : State::Text;
        return false;
    case State::Control:
        control(c);
        return false;
    case State::String:
        m_state = c == kBell ? State::Text : c == kEscape ? State::StringEnd : State::String;
        return false;
    case State::StringEnd:
        m_state = c == u'\\' ? State::Text : State::String;
        return false;
    }
    return true;
}

void OutputText::control(QChar c)
{
    if (c < u'@' || c > u'~') {
        m_arguments += c;
        if (m_arguments.size() > kMostArguments)
            m_state = State::Text;
        return;
    }
    m_state = State::Text;
    if (c == u'K')
        eraseInLine();
}

/// Erases the line from the cursor or from its start, as progress bars do.
void OutputText::eraseInLine()
{
    const bool before = m_arguments == u"1" || m_arguments == u"2";
    if (m_arguments != u"1")
        m_line.truncate(m_column);
    if (before)
        std::fill(m_line.begin(), m_line.begin() + std::min(m_column, m_line.size()), QChar(u' '));
    m_kept = std::min(m_kept, before ? 0 : m_line.size());
}

void OutputText::write(QChar c)
{
    if (c == u'\r') {
        m_column = 0;
    } else if (c == kBackspace) {
        m_column = std::max<qsizetype>(0, m_column - 1);
    } else if (c >= u' ' || c == u'\t') { // other characters are not printable
        if (m_column == m_line.size()) {
            m_line += c;
        } else if (m_line[m_column] != c) {
            m_line[m_column] = c;
            m_kept = std::min(m_kept, m_column);
        }
        ++m_column;
    }
}

} // namespace app
