#include "app/findings/tip_box.h"

#include "advisor/tip_text.h"
#include "app/look/icon.h"
#include "app/look/qstring.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QFontDatabase>
#include <QLabel>
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

} // namespace app
