#pragma once

#include "advisor/advice.h"
#include "app/document/recorded_files.h"
#include "app/look/python_colors.h"

#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

namespace advisor {
struct ProgramValues;
}

/// The parts of a finding's card that explain it: the tip about its rule, and the lines of the user's program.
namespace app {

/// "Why / when not": the text of a tip, the caveats of this finding, and the code for PyTorch and LibTorch to copy,
/// with the value of the change and the program's own values.
class TipBox : public QWidget {
    Q_OBJECT
public:
    TipBox(const QString& ruleId, const QStringList& caveats, const std::optional<advisor::Toggle>& change,
           const advisor::ProgramValues& values, QWidget* parent);
    /// The card shows the diff of the user's program instead of the code to paste.
    void hideCode();

private:
    QWidget* m_code;
};

/// Lines of the user's program around the line of a finding, with line numbers. Read-only. A click or Enter opens the
/// line in the Source view.
class SourceSnippet : public QWidget {
    Q_OBJECT
public:
    explicit SourceSnippet(QWidget* parent);

    /// Shows lines `line` to `endLine` of the file with some context. Hides the widget if the file has no text.
    void showLines(const RecordedFile* file, int line, int endLine);
    [[nodiscard]] QStringList lines() const { return m_lines; } ///< on screen
    [[nodiscard]] int firstLine() const { return m_first; }     ///< number of the first line

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void activated();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    [[nodiscard]] int lineHeight() const;

    QStringList m_lines;
    std::vector<std::vector<CodePart>> m_parts; ///< coloured parts of each line
    int m_first = 1, m_begin = 0, m_end = 0;    ///< the finding's lines are m_begin to m_end
};

} // namespace app
