#include "app/look/python_colors.h"

#include "app/look/theme.h"

#include <QPalette>
#include <QSet>
#include <QStringList>

namespace app {

namespace {

// https://docs.python.org/3/reference/lexical_analysis.html#keywords, without the soft keywords, which are usually
// names.
const QSet<QString>& keywords()
{
    static const QSet<QString> all = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                      "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                      "else",   "except", "finally", "for",      "from",     "global", "if",
                                      "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                      "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
    return all;
}

bool isName(QChar letter)
{
    return letter.isLetterOrNumber() || letter == '_';
}

/// Reads the lines in sequence and keeps the state of an open triple-quoted string between them.
class Reader {
public:
    std::vector<CodePart> read(const QString& line)
    {
        m_line = &line;
        m_at = 0;
        m_parts.clear();
        if (!m_open.isEmpty())
            readString(0);
        while (m_at < line.size())
            readNext();
        return std::exchange(m_parts, {});
    }

private:
    [[nodiscard]] QChar at(qsizetype index) const { return index < m_line->size() ? (*m_line)[index] : QChar(); }

    void add(qsizetype start, CodeKind kind)
    {
        if (m_at > start)
            m_parts.push_back({static_cast<int>(start), static_cast<int>(m_at - start), kind});
    }

    void readNext()
    {
        const QChar letter = at(m_at);
        const qsizetype start = m_at;
        if (letter == '#') {
            m_at = m_line->size();
            add(start, CodeKind::Comment);
        } else if (letter == '"' || letter == '\'') {
            openString(start);
        } else if (letter.isDigit()) {
            while (isName(at(m_at)) || at(m_at) == '.')
                ++m_at;
            add(start, CodeKind::Number);
        } else if (isName(letter)) {
            readName();
        } else {
            ++m_at;
        }
    }

    void readName()
    {
        const qsizetype start = m_at;
        while (isName(at(m_at)))
            ++m_at;
        const QString name = m_line->mid(start, m_at - start);
        const bool isPrefix = name.size() <= 2 && (at(m_at) == '"' || at(m_at) == '\'');
        if (isPrefix)
            openString(start);
        else if (keywords().contains(name))
            add(start, CodeKind::Keyword);
    }

    void openString(qsizetype start)
    {
        const QString quote(at(m_at));
        const bool isLong = m_line->mid(m_at, 3) == quote.repeated(3);
        m_open = isLong ? quote.repeated(3) : quote;
        m_at += m_open.size();
        readString(start);
    }

    /// Reads to the end of the string or line.
    void readString(qsizetype start)
    {
        while (m_at < m_line->size()) {
            if (at(m_at) == '\\') {
                m_at = std::min(m_at + 2, m_line->size());
            } else if (m_line->mid(m_at, m_open.size()) == m_open) {
                m_at += m_open.size();
                m_open.clear();
                break;
            } else {
                ++m_at;
            }
        }
        if (m_open.size() == 1)
            m_open.clear(); // the string ends with its line
        add(start, CodeKind::String);
    }

    const QString* m_line = nullptr;
    qsizetype m_at = 0;
    QString m_open; ///< quotes that end the string; empty: not in a string
    std::vector<CodePart> m_parts;
};

} // namespace

CodeColors codeColors(const QPalette& palette)
{
    // Each has a contrast of at least 4.5 : 1 with the theme's background, on plain and selected lines.
    return isDark(palette) ? CodeColors{QColor(0xc5, 0xa5, 0xf5), QColor(0x8f, 0xd1, 0x9e), QColor(0x98, 0xa2, 0xae),
                                        QColor(0xf0, 0xb2, 0x7a)}
                           : CodeColors{QColor(0x7a, 0x2e, 0xb8), QColor(0x14, 0x69, 0x3a), QColor(0x5c, 0x66, 0x72),
                                        QColor(0x8a, 0x45, 0x00)};
}

std::vector<std::vector<CodePart>> pythonParts(const QStringList& lines)
{
    Reader reader;
    std::vector<std::vector<CodePart>> parts;
    parts.reserve(static_cast<std::size_t>(lines.size()));
    for (const QString& line : lines)
        parts.push_back(reader.read(line));
    return parts;
}

QList<QTextLayout::FormatRange> codeFormats(const std::vector<CodePart>& parts, const CodeColors& colors)
{
    QList<QTextLayout::FormatRange> formats;
    for (const CodePart& part : parts) {
        QTextLayout::FormatRange range;
        range.start = part.start;
        range.length = part.length;
        range.format.setForeground(part.kind == CodeKind::Keyword   ? colors.keyword
                                   : part.kind == CodeKind::String  ? colors.string
                                   : part.kind == CodeKind::Comment ? colors.comment
                                                                    : colors.number);
        formats << range;
    }
    return formats;
}

} // namespace app
