#pragma once

#include <QColor>
#include <QList>
#include <QString>
#include <QTextLayout>
#include <vector>

class QPalette;

namespace app {

/// Colours of Python source. Text that none of these is about has the palette's colour.
struct CodeColors {
    QColor keyword, string, comment, number;
};
[[nodiscard]] CodeColors codeColors(const QPalette& palette);

/// What a part of a line of Python is.
enum class CodeKind : std::uint8_t { Keyword, String, Comment, Number };
struct CodePart {
    int start = 0, length = 0;
    CodeKind kind = CodeKind::Keyword;
    friend bool operator==(const CodePart&, const CodePart&) = default;
};
/// The parts of each line that are coloured. Strings with three quotes go over several lines.
[[nodiscard]] std::vector<std::vector<CodePart>> pythonParts(const QStringList& lines);

/// The parts as formats for drawing.
[[nodiscard]] QList<QTextLayout::FormatRange> codeFormats(const std::vector<CodePart>& parts, const CodeColors& colors);

} // namespace app
