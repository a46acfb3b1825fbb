#pragma once

#include <QColor>
#include <QList>
#include <QString>
#include <QTextLayout>
#include <vector>

class QPalette;

namespace app {

/// Syntax colours of Python source. Other text has the palette's colour.
struct CodeColors {
    QColor keyword, string, comment, number;
};
[[nodiscard]] CodeColors codeColors(const QPalette& palette);

/// The kind of a part of a Python line.
enum class CodeKind : std::uint8_t { Keyword, String, Comment, Number };
struct CodePart {
    int start = 0, length = 0;
    CodeKind kind = CodeKind::Keyword;
    friend bool operator==(const CodePart&, const CodePart&) = default;
};
/// The coloured parts of each line. Triple-quoted strings span several lines.
[[nodiscard]] std::vector<std::vector<CodePart>> pythonParts(const QStringList& lines);

/// The parts as text formats for drawing.
[[nodiscard]] QList<QTextLayout::FormatRange> codeFormats(const std::vector<CodePart>& parts, const CodeColors& colors);

} // namespace app
