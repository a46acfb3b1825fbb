#include "app/views/query/sql_editor.h"

#include "app/look/python_colors.h"
#include "app/look/theme.h"
#include "profiler/model/activity.h"
#include "profiler/query/schema.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSet>
#include <QStringListModel>
#include <QSyntaxHighlighter>
#include <QTextBlock>
#include <algorithm>

namespace app {

namespace {

constexpr int kWordBeforeList = 2; ///< characters after which the list opens by itself

/// Keywords of SELECT statements: https://www.sqlite.org/lang_select.html.
const QStringList& keywords()
{
    static const QStringList all = {"ALL",    "AND",       "AS",     "ASC",     "BETWEEN",   "BY",        "CASE",
                                    "CAST",   "COLLATE",   "CROSS",  "DESC",    "DISTINCT",  "ELSE",      "END",
                                    "ESCAPE", "EXCEPT",    "EXISTS", "EXPLAIN", "FILTER",    "FOLLOWING", "FROM",
                                    "GLOB",   "GROUP",     "HAVING", "IN",      "INNER",     "INTERSECT", "IS",
                                    "JOIN",   "LEFT",      "LIKE",   "LIMIT",   "NOT",       "NULL",      "OFFSET",
                                    "ON",     "OR",        "ORDER",  "OVER",    "PARTITION", "PRECEDING", "QUERY PLAN",
                                    "RANGE",  "RECURSIVE", "ROWS",   "SELECT",  "THEN",      "UNBOUNDED", "UNION",
                                    "USING",  "VALUES",    "WHEN",   "WHERE",   "WINDOW",    "WITH"};
    return all;
}

/// Functions of SQLite that queries over traces use most, and those of the trace.
QStringList functionNames()
{
    QStringList names = {"abs",     "avg",   "coalesce",   "count",  "group_concat", "ifnull", "iif",   "instr",
                         "lag",     "lead",  "length",     "lower",  "max",          "min",    "ntile", "rank",
                         "replace", "round", "row_number", "substr", "sum",          "total",  "upper"};
    for (const profiler::query::FunctionInfo& function : profiler::query::functions())
        names << QString::fromStdString(function.signature).section('(', 0, 0);
    return names;
}

QStringList completionWords()
{
    QSet<QString> words(keywords().begin(), keywords().end());
    for (const QString& function : functionNames())
        words.insert(function + '(');
    for (const profiler::query::TableInfo& table : profiler::query::tables()) {
        words.insert(QString::fromStdString(table.name));
        for (const profiler::query::ColumnInfo& column : table.columns)
            words.insert(QString::fromStdString(column.name));
    }
    for (int kind = 0; kind < profiler::kActivityKinds; ++kind) {
        const auto name = profiler::activityName(static_cast<profiler::ActivityKind>(kind));
        words.insert('\'' + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())) + '\'');
    }
    QStringList sorted(words.begin(), words.end());
    sorted.sort(Qt::CaseInsensitive);
    return sorted;
}

/// Colours keywords, strings, comments and numbers.
class SqlHighlighter : public QSyntaxHighlighter {
public:
    explicit SqlHighlighter(QPlainTextEdit* editor) : QSyntaxHighlighter(editor->document()), m_editor(editor) {}

protected:
    void highlightBlock(const QString& text) override
    {
        static const QRegularExpression parts(
            "(?<comment>--.*$|/\\*.*?(?:\\*/"
            "|$))|(?<string>'(?:[^']|'')*(?:'|$))|(?<number>\\b\\d[\\d.]*(?:[eE][+-]?\\d+)?\\b)|"
            "(?<word>\\b[A-Za-z_]\\w*\\b)");
        const CodeColors colors = codeColors(m_editor->palette());
        for (auto matches = parts.globalMatch(text); matches.hasNext();) {
            const QRegularExpressionMatch match = matches.next();
            const int start = static_cast<int>(match.capturedStart()),
                      length = static_cast<int>(match.capturedLength());
            if (match.hasCaptured("comment"))
                setFormat(start, length, colors.comment);
            else if (match.hasCaptured("string"))
                setFormat(start, length, colors.string);
            else if (match.hasCaptured("number"))
                setFormat(start, length, colors.number);
            else if (keywords().contains(match.captured().toUpper()))
                setFormat(start, length, colors.keyword);
        }
    }

private:
    QPlainTextEdit* m_editor;
};

} // namespace

SqlEditor::SqlEditor(QWidget* parent)
    : QPlainTextEdit(parent), m_words(completionWords()), m_completer(new QCompleter(m_words, this)),
      m_highlighter(new SqlHighlighter(this))
{
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    setTabChangesFocus(true);
    setLineWrapMode(QPlainTextEdit::WidgetWidth);
    m_completer->setWidget(this);
    m_completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_completer->setModelSorting(QCompleter::CaseInsensitivelySortedModel);
    m_completer->setCompletionMode(QCompleter::PopupCompletion);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &SqlEditor::insertCompletion);
    connect(this, &QPlainTextEdit::textChanged, this, [this] { markError(0, 0); });
}

void SqlEditor::markError(int line, int column)
{
    QList<QTextEdit::ExtraSelection> marks;
    if (const QTextBlock block = document()->findBlockByNumber(line - 1); line > 0 && block.isValid()) {
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        mark.cursor.setPosition(block.position() + std::min(column - 1, block.length() - 1));
        mark.cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor);
        if (!mark.cursor.hasSelection()) // the end of the text
            mark.cursor.movePosition(QTextCursor::PreviousCharacter, QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(shades(palette()).bad);
        marks << mark;
    }
    setExtraSelections(marks);
}

QString SqlEditor::wordBeforeCursor() const
{
    static const QRegularExpression word("'?\\w*$");
    return word.match(textCursor().block().text().left(textCursor().positionInBlock())).captured();
}

void SqlEditor::keyPressEvent(QKeyEvent* event)
{
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (m_completer->popup()->isVisible() && (isReturn || event->key() == Qt::Key_Tab ||
                                              event->key() == Qt::Key_Escape || event->key() == Qt::Key_Backtab)) {
        event->ignore(); // the list takes these keys
        return;
    }
    if (isReturn && event->modifiers().testFlag(Qt::ControlModifier)) {
        emit runWanted();
        return;
    }
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) {
        complete(true);
        return;
    }
    QPlainTextEdit::keyPressEvent(event);
    if (!event->text().isEmpty() && !event->modifiers().testFlag(Qt::ControlModifier))
        complete(false);
}

/// @param asked  by the user, so that the list also opens for a short word
void SqlEditor::complete(bool asked)
{
    const QString word = wordBeforeCursor();
    if (!asked && word.size() < kWordBeforeList) {
        m_completer->popup()->hide();
        return;
    }
    m_completer->setCompletionPrefix(word);
    const bool isWhole = m_completer->currentCompletion().compare(word, Qt::CaseInsensitive) == 0;
    if (m_completer->completionCount() == 0 || (!asked && isWhole)) {
        m_completer->popup()->hide();
        return;
    }
    m_completer->popup()->setCurrentIndex(m_completer->completionModel()->index(0, 0));
    QRect rect = cursorRect();
    rect.setWidth(m_completer->popup()->sizeHintForColumn(0) +
                  m_completer->popup()->verticalScrollBar()->sizeHint().width());
    m_completer->complete(rect);
}

void SqlEditor::insertCompletion(const QString& word)
{
    QTextCursor cursor = textCursor();
    cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(wordBeforeCursor().size()));
    cursor.insertText(word);
    setTextCursor(cursor);
}

void SqlEditor::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        m_highlighter->rehighlight();
}

} // namespace app
