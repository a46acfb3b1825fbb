#pragma once

#include <QPlainTextEdit>
#include <QStringList>

class QCompleter;
class QSyntaxHighlighter;

namespace app {

/// An editor for one SQL statement, with coloured syntax and completion of tables, columns, functions and kinds.
class SqlEditor : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit SqlEditor(QWidget* parent);

    /// Underlines the text from a position on.
    /// @param line, column  from 1; 0: nothing is underlined
    void markError(int line, int column);
    /// The words that are completed.
    [[nodiscard]] const QStringList& words() const { return m_words; }
    [[nodiscard]] QCompleter* completer() const { return m_completer; }

signals:
    void runWanted(); ///< Ctrl+Return

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void complete(bool asked);
    void insertCompletion(const QString& word);
    [[nodiscard]] QString wordBeforeCursor() const;

    QStringList m_words;
    QCompleter* m_completer;
    QSyntaxHighlighter* m_highlighter;
};

} // namespace app
