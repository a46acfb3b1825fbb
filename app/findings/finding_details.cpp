#include "app/findings/finding_details.h"

#include "advisor/tips.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QFileInfo>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTabBar>
#include <QTabWidget>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextList>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace {

constexpr int kListMargin = 14; ///< pixels; Qt's default indents a list by forty, too much in a panel three hundred
                                ///< pixels wide

/// As rich text whose lists start near the margin.
QString richText(const QString& markdown)
{
    QTextDocument document;
    document.setMarkdown(markdown);
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        if (QTextList* list = block.textList()) {
            QTextListFormat format = list->format();
            format.setIndent(0);
            list->setFormat(format);
            QTextBlockFormat margins = block.blockFormat();
            margins.setLeftMargin(kListMargin);
            margins.setTopMargin(1);
            margins.setBottomMargin(1);
            QTextCursor(block).setBlockFormat(margins);
        }
    return document.toHtml();
}

/// Scrolling must not change the choice: the wheel event goes to the panel.
class CodeTabs : public QTabWidget {
public:
    explicit CodeTabs(QWidget* parent) : QTabWidget(parent) { tabBar()->installEventFilter(this); }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::Wheel)
            return QTabWidget::eventFilter(watched, event);
        event->ignore();
        return true;
    }
};

void addSection(QVBoxLayout* layout, const QString& heading, const QString& markdown)
{
    if (markdown.isEmpty())
        return;
    auto* title = new QLabel(heading);
    QFont font = title->font();
    font.setWeight(QFont::DemiBold);
    title->setFont(font);
    auto* words = new QLabel(richText(markdown));
    words->setTextFormat(Qt::RichText);
    words->setWordWrap(true);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(title);
    layout->addWidget(words);
}

QWidget* makeCode(const QString& code, QWidget* parent)
{
    auto* box = new QWidget(parent);
    auto* edit = new QPlainTextEdit(code.trimmed(), box);
    edit->setReadOnly(true);
    edit->setLineWrapMode(QPlainTextEdit::NoWrap);
    edit->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    edit->setFrameShape(QFrame::NoFrame);
    edit->setTabChangesFocus(true);
    const int lines = static_cast<int>(code.trimmed().count('\n')) + 1;
    edit->setFixedHeight(std::min(lines, 16) * edit->fontMetrics().lineSpacing() + 12 +
                         edit->horizontalScrollBar()->sizeHint().height());
    auto* copy = new QToolButton(box);
    copy->setIcon(icon("copy"));
    copy->setText(TipBox::tr("Copy"));
    copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    copy->setAutoRaise(true);
    QObject::connect(copy, &QToolButton::clicked, edit,
                     [edit] { QApplication::clipboard()->setText(edit->toPlainText()); });
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(edit);
    layout->addWidget(copy, 0, Qt::AlignRight);
    return box;
}

constexpr int kAround = 2;    ///< lines before and after
constexpr int kMostLines = 9; ///< maximum lines of a multi-line call
constexpr int kRoom = 6;      ///< pixels at each edge

/// The common indentation of all lines, which is not shown.
int commonIndent(const QStringList& lines)
{
    int least = 1000;
    for (const QString& line : lines) {
        const auto letter = std::find_if(line.begin(), line.end(), [](QChar c) { return !c.isSpace(); });
        if (letter != line.end())
            least = std::min(least, static_cast<int>(letter - line.begin()));
    }
    return least == 1000 ? 0 : least;
}

} // namespace

TipBox::TipBox(const QString& ruleId, const QStringList& caveats, const std::optional<advisor::Toggle>& change,
               const advisor::ProgramValues& values, QWidget* parent)
    : QWidget(parent), m_code(nullptr)
{
    const std::string key = ruleId.toStdString();
    const auto section = [&](std::string_view heading) { return asQString(advisor::tipSection(key, heading)); };
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->setSpacing(4);
    addSection(layout, tr("What it is"), section(advisor::tip_section::kWhat));
    addSection(layout, tr("Why it helps"), section(advisor::tip_section::kWhy));
    addSection(layout, tr("When not"), section(advisor::tip_section::kWhenNot));
    if (!caveats.isEmpty())
        addSection(layout, tr("Here"), "- " + caveats.join("\n- "));
    auto* code = new CodeTabs(this);
    code->setDocumentMode(true);
    for (const auto heading : {advisor::tip_section::kPyTorch, advisor::tip_section::kLibTorch})
        if (const QString text = asQString(advisor::tipCodeOfRun(key, heading, change, values)); !text.isEmpty())
            code->addTab(makeCode(text, code), asQString(heading));
    code->setVisible(code->count() > 0);
    layout->addWidget(code);
    m_code = code;
}

void TipBox::hideCode()
{
    m_code->hide();
}

SourceSnippet::SourceSnippet(QWidget* parent) : QWidget(parent)
{
    setObjectName("snippet");
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    hide();
}

void SourceSnippet::showLines(const RecordedFile* file, int line, int endLine)
{
    const int count = file ? static_cast<int>(file->lines.size()) : 0;
    const bool isThere = line >= 1 && line <= count;
    setVisible(isThere);
    if (!isThere)
        return;
    m_begin = line;
    m_end = std::clamp(endLine, line, count);
    m_first = std::max(1, line - kAround);
    const int last = std::min({count, m_end + kAround, m_first + kMostLines - 1});
    // Reads the file from its start to know about strings that started earlier.
    const auto all = pythonParts(file->lines.mid(0, last));
    m_parts.assign(all.begin() + m_first - 1, all.end());
    m_lines = file->lines.mid(m_first - 1, last - m_first + 1);
    const int indent = commonIndent(m_lines);
    for (QString& text : m_lines)
        text = text.mid(indent).replace('\t', "    ");
    for (auto& parts : m_parts)
        for (CodePart& part : parts)
            part.start = std::max(0, part.start - indent);
    setAccessibleName(tr("Line %1 of %2").arg(line).arg(QFileInfo(file->path).fileName()));
    setAccessibleDescription(m_lines.value(line - m_first).trimmed());
    setToolTip(tr("%1, line %2. Click to show it in the Source view.").arg(file->path).arg(line));
    updateGeometry();
    update();
}

int SourceSnippet::lineHeight() const
{
    return fontMetrics().lineSpacing() + 1;
}

QSize SourceSnippet::sizeHint() const
{
    return {200, static_cast<int>(m_lines.size()) * lineHeight() + 2 * kRoom};
}

QSize SourceSnippet::minimumSizeHint() const
{
    return {80, sizeHint().height()};
}

void SourceSnippet::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Shades tones = shades(palette());
    painter.setPen(hasFocus() ? palette().color(QPalette::Highlight) : tones.line);
    painter.setBrush(palette().color(QPalette::Base));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    const CodeColors colors = codeColors(palette());
    const int digits = static_cast<int>(QString::number(m_first + m_lines.size()).size());
    const int numbers = fontMetrics().horizontalAdvance(QString(digits, '0')) + 2 * kRoom;
    for (int i = 0; i < m_lines.size(); ++i) {
        const QRect row(1, kRoom + i * lineHeight(), width() - 2, lineHeight());
        const int number = m_first + i;
        const bool isFound = number >= m_begin && number <= m_end;
        if (isFound) {
            painter.fillRect(row, blend(palette().color(QPalette::Base), tones.warning, 0.16));
            painter.fillRect(QRect(row.left(), row.top(), 3, row.height()), tones.warning);
        }
        painter.setPen(tones.muted);
        painter.drawText(QRect(0, row.top(), numbers - kRoom, row.height()), Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(number));
        const QString text = fontMetrics().elidedText(m_lines[i], Qt::ElideRight, row.right() - numbers - kRoom);
        QTextLayout layout(text, font());
        layout.setFormats(codeFormats(m_parts[static_cast<std::size_t>(i)], colors));
        layout.beginLayout();
        layout.createLine();
        layout.endLayout();
        painter.setPen(palette().color(QPalette::Text));
        layout.draw(&painter, QPointF(numbers, row.top()));
    }
}

void SourceSnippet::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->pos()))
        emit activated();
}

void SourceSnippet::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
        emit activated();
    else
        QWidget::keyPressEvent(event);
}

} // namespace app
