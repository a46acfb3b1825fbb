#include "app/report/cell_text.h"

#include <QRegularExpression>
#include <algorithm>

namespace app {

namespace {

constexpr qsizetype kLongName = 60; ///< letters, about half a line of a page

bool isClosing(QChar opening, QChar letter)
{
    return opening == '<' ? letter == '>' : letter == ')';
}

/// Index after the bracket that closes the one at `at`; -1 if there is none.
qsizetype pastBrackets(const QString& name, qsizetype at)
{
    QString open;
    for (qsizetype i = at; i < name.size(); ++i) {
        const QChar letter = name[i];
        const bool isArrow = letter == '>' && i > 0 && name[i - 1] == '-';
        if (letter == '<' || letter == '(')
            open += letter;
        else if (!isArrow && !open.isEmpty() && isClosing(open.back(), letter))
            open.chop(1);
        if (open.isEmpty())
            return i + 1;
    }
    return -1;
}

/// A line may be broken after this letter of a name.
bool isJoint(QStringView word, qsizetype at)
{
    const QChar letter = word[at];
    if (at + 1 >= word.size())
        return false;
    const QChar next = word[at + 1];
    if (letter == '.' || letter == ',')
        return !(next.isDigit() && at > 0 && word[at - 1].isDigit());
    if (letter == ':' || letter == '_' || letter == '>' || letter == ')')
        return next != letter && next != ',' && next != '>' && next != ')';
    return QStringLiteral("<(/-=&;|*").contains(letter);
}

QString wordToFit(QStringView word, double room, const std::function<double(QStringView)>& widthOf)
{
    QString lines;
    while (widthOf(word) > room) {
        qsizetype fits = 1;
        while (fits < word.size() && widthOf(word.first(fits + 1)) <= room)
            ++fits;
        qsizetype joint = fits - 1;
        while (joint > 0 && !isJoint(word, joint))
            --joint;
        if (joint > 0)
            fits = joint + 1;
        if (fits >= word.size())
            break;
        lines += word.first(fits);
        lines += QChar::LineSeparator;
        word = word.sliced(fits);
    }
    lines += word;
    return lines;
}

template <class Take>
void forEachWord(const QString& text, const Take& take)
{
    for (qsizetype begin = 0; begin <= text.size();) {
        qsizetype end = begin;
        while (end < text.size() && text[end] != ' ' && text[end] != '\n' && text[end] != QChar::LineSeparator)
            ++end;
        take(QStringView(text).sliced(begin, end - begin), end);
        begin = end + 1;
    }
}

} // namespace

QString withUnitsKept(QString text)
{
    static const QRegularExpression unit(QStringLiteral("(?<=\\d) (?=[\\p{L}%×µ])"));
    return text.replace(unit, QString(QChar::Nbsp));
}

QString shortNameOf(const QString& name)
{
    if (name.size() <= kLongName || !(name.contains("::") || name.contains('<')))
        return {};
    static const QString nameless = QStringLiteral("(anonymous namespace)");
    QString kept;
    for (qsizetype i = 0; i < name.size();) {
        const QChar letter = name[i];
        if (QStringView(name).sliced(i).startsWith(nameless)) {
            kept += nameless;
            i += nameless.size();
            continue;
        }
        const qsizetype past = letter == '<' || letter == '(' ? pastBrackets(name, i) : -1;
        if (past < 0) {
            kept += letter;
            ++i;
            continue;
        }
        // Function arguments are less informative than template arguments.
        if (letter == '<')
            kept += QStringLiteral("<…>");
        else if (past < name.size())
            kept += QStringLiteral("(…)");
        i = past;
    }
    if (kept.startsWith("void "))
        kept.remove(0, 5);
    kept = kept.trimmed();
    return kept.size() + 8 < name.size() ? kept : QString();
}

QString brokenToFit(const QString& text, double room, const std::function<double(QStringView)>& widthOf)
{
    QString all;
    forEachWord(text, [&](QStringView word, qsizetype end) {
        all += wordToFit(word, room, widthOf);
        if (end < text.size())
            all += text[end];
    });
    return all;
}

double widestWord(const QString& text, const std::function<double(QStringView)>& widthOf)
{
    double widest = 0;
    forEachWord(text, [&](QStringView word, qsizetype) { widest = std::max(widest, widthOf(word)); });
    return widest;
}

} // namespace app
