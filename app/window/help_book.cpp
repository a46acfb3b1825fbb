#include "app/window/help_book.h"

#include "app/look/help_place.h"

#include <QAction>
#include <QBoxLayout>
#include <QDesktopServices>
#include <QDir>
#include <QDockWidget>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTextTable>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <algorithm>

namespace app {

namespace {

constexpr int kPageRole = Qt::UserRole;
constexpr int kAboveHeading = 12; ///< pixels

QString titleOf(const QString& markdown)
{
    static const QRegularExpression heading("^# (.+)$", QRegularExpression::MultilineOption);
    return heading.match(markdown).captured(1);
}

HelpPage readPage(const QString& path)
{
    QFile file(":/" + path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    // The windows that the pictures show can be opened here.
    static const QRegularExpression picture(R"(^!\[.*\]\(.*\)\n\n?)", QRegularExpression::MultilineOption);
    HelpPage page{path, {}, QString::fromUtf8(file.readAll()).remove(picture)};
    page.title = titleOf(page.text);
    return page;
}

std::vector<HelpPage> readPages()
{
    std::vector<HelpPage> pages = {readPage("docs/index.md")};
    static const QRegularExpression link(R"(\]\(([a-z-]+\.md)\))");
    for (auto at = link.globalMatch(pages.front().text); at.hasNext();)
        pages.push_back(readPage("docs/" + at.next().captured(1)));
    const auto firstTip = static_cast<std::ptrdiff_t>(pages.size());
    for (const QString& name : QDir(":/tips").entryList({"*.md"}))
        pages.push_back(readPage("tips/" + name));
    std::sort(pages.begin() + firstTip, pages.end(),
              [](const HelpPage& a, const HelpPage& b) { return a.title.localeAwareCompare(b.title) < 0; });
    return pages;
}

/// Whether a page contains every word.
bool contains(const HelpPage& page, const QStringList& words)
{
    return std::all_of(words.begin(), words.end(), [&](const QString& word) {
        return page.text.contains(word, Qt::CaseInsensitive) || page.path.contains(word, Qt::CaseInsensitive);
    });
}

QStringList wordsOf(const QString& text)
{
    return text.split(' ', Qt::SkipEmptyParts);
}

/// Qt draws tables of Markdown with thick borders and code without a background.
void improveLook(QTextDocument* document, const QPalette& palette)
{
    const QColor line = palette.color(QPalette::Mid), shade = palette.color(QPalette::AlternateBase);
    for (QTextFrame* frame : document->rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (!table)
            continue;
        QTextTableFormat format = table->format();
        format.setBorder(1);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(line);
        format.setBorderCollapse(true);
        format.setCellPadding(5);
        format.setCellSpacing(0);
        format.setTopMargin(6);
        format.setBottomMargin(10);
        table->setFormat(format);
        for (int column = 0; column < table->columns(); ++column) {
            QTextTableCell cell = table->cellAt(0, column);
            QTextCharFormat header = cell.format();
            header.setBackground(shade);
            cell.setFormat(header);
        }
    }
    const QString fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont).family();
    for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        QTextBlockFormat format = block.blockFormat();
        if (format.hasProperty(QTextFormat::BlockCodeLanguage) || format.hasProperty(QTextFormat::BlockCodeFence)) {
            format.setBackground(shade);
            format.setLeftMargin(8);
            cursor.setBlockFormat(format);
        } else if (format.headingLevel() > 0) {
            format.setTopMargin(format.headingLevel() == 1 ? 0 : 14);
            format.setBottomMargin(6);
            cursor.setBlockFormat(format);
        }
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            if (!at.fragment().charFormat().fontFixedPitch())
                continue;
            cursor.setPosition(at.fragment().position());
            cursor.setPosition(at.fragment().position() + at.fragment().length(), QTextCursor::KeepAnchor);
            QTextCharFormat code;
            code.setFontFamilies({fixed});
            cursor.mergeCharFormat(code);
        }
    }
}

} // namespace

const std::vector<HelpPage>& helpPages()
{
    static const std::vector<HelpPage> pages = readPages();
    return pages;
}

QString headingAnchor(const QString& heading)
{
    QString anchor;
    for (const QChar ch : heading.toLower()) {
        if (ch == ' ')
            anchor += '-';
        else if (ch.isLetterOrNumber() || ch == '-' || ch == '_')
            anchor += ch;
    }
    return anchor;
}

QString helpPlaceOf(const QWidget* widget)
{
    static const QRegularExpression heading("^(#+) (.+)$", QRegularExpression::MultilineOption);
    for (; widget; widget = widget->parentWidget()) {
        if (const QVariant place = widget->property(kHelpPlace); place.isValid())
            return place.toString();
        const auto* dock = qobject_cast<const QDockWidget*>(widget);
        if (!dock)
            continue;
        const QString title = dock->windowTitle().remove('&');
        const QRegularExpression named("\\b" + QRegularExpression::escape(title) + "\\b");
        for (const HelpPage& page : helpPages())
            for (auto at = heading.globalMatch(page.text); at.hasNext();)
                if (const QString text = at.next().captured(2); page.path.startsWith("docs/") && text.contains(named))
                    return page.path + '#' + headingAnchor(text);
    }
    return helpPages().front().path;
}

HelpBook::HelpBook(QWidget* window)
    : QWidget(window, Qt::Window), m_search(new QLineEdit(this)), m_list(new QListWidget(this)),
      m_none(new QLabel(tr("No page contains all of these words."), this)), m_text(new QTextBrowser(this))
{
    setObjectName("helpBook");
    setWindowTitle(tr("Stepscope help"));
    m_search->setPlaceholderText(tr("Search"));
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Search in the help"));
    m_list->setAccessibleName(tr("Pages"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // long titles are elided
    m_text->setAccessibleName(tr("Page"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->document()->setDocumentMargin(18);
    m_none->setWordWrap(true);
    m_none->hide();

    const auto button = [this](const QString& text, const QString& tip, QKeySequence::StandardKey key, int by) {
        auto* made = new QToolButton(this);
        auto* action = new QAction(text, made);
        action->setShortcuts(key);
        action->setToolTip(tip);
        made->setDefaultAction(action);
        addAction(action);
        connect(action, &QAction::triggered, this, [this, by] { goBack(by); });
        return made;
    };
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(8, 8, 0, 8);
    auto* row = new QHBoxLayout;
    row->addWidget(button("←", tr("Back"), QKeySequence::Back, -1));
    row->addWidget(button("→", tr("Forward"), QKeySequence::Forward, 1));
    row->addWidget(m_search, 1);
    column->addLayout(row);
    column->addWidget(m_none);
    column->addWidget(m_list, 1);
    auto* splitter = new QSplitter(this);
    splitter->addWidget(left);
    splitter->addWidget(m_text);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({260, 720});
    auto* all = new QHBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(splitter);
    resize(1000, 700);

    auto* find = new QAction(this);
    find->setShortcuts(QKeySequence::Find);
    connect(find, &QAction::triggered, m_search, qOverload<>(&QWidget::setFocus));
    auto* close = new QAction(this);
    close->setShortcut(Qt::Key_Escape);
    connect(close, &QAction::triggered, this, &QWidget::close);
    addActions({find, close});
    connect(m_search, &QLineEdit::textChanged, this, &HelpBook::search);
    connect(m_search, &QLineEdit::returnPressed, m_list, qOverload<>(&QWidget::setFocus));
    connect(m_list, &QListWidget::currentRowChanged, this, &HelpBook::openRow);
    connect(m_text->verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_userScrolled = true; });
    connect(m_text, &QTextBrowser::anchorClicked, this, &HelpBook::follow);
    search({});
    open({});
}

void HelpBook::search(const QString& text)
{
    const QStringList words = wordsOf(text);
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    bool tips = false;
    for (std::size_t i = 0; i < helpPages().size(); ++i) {
        const HelpPage& page = helpPages()[i];
        if (!contains(page, words))
            continue;
        if (page.path.startsWith("tips/") && !tips) {
            tips = true;
            auto* header = new QListWidgetItem(tr("TIPS"), m_list);
            header->setFlags(Qt::NoItemFlags);
        }
        auto* item = new QListWidgetItem(page.title, m_list);
        item->setData(kPageRole, static_cast<int>(i));
        if (i == m_page)
            m_list->setCurrentItem(item);
    }
    m_none->setVisible(m_list->count() == 0);
    markWords();
}

void HelpBook::openRow(int row)
{
    const QListWidgetItem* item = m_list->item(row);
    if (item && item->data(kPageRole).isValid())
        open(helpPages()[static_cast<std::size_t>(item->data(kPageRole).toInt())].path);
}

void HelpBook::open(const QString& place)
{
    const std::vector<HelpPage>& pages = helpPages();
    const QString path = place.section('#', 0, 0);
    const auto found =
        std::find_if(pages.begin(), pages.end(), [&](const HelpPage& page) { return page.path == path; });
    m_page = found == pages.end() ? 0 : static_cast<std::size_t>(found - pages.begin());
    if (!m_goingBack) {
        m_visited.resize(m_visited.empty() ? 0 : m_at + 1);
        if (m_visited.empty() || m_visited.back() != place)
            m_visited.push_back(place);
        m_at = m_visited.size() - 1;
    }
    {
        const QSignalBlocker quiet(m_list);
        m_list->setCurrentRow(-1);
        for (int row = 0; row < m_list->count(); ++row)
            if (const QVariant page = m_list->item(row)->data(kPageRole);
                page.isValid() && page.toInt() == static_cast<int>(m_page))
                m_list->setCurrentRow(row);
    }
    render();
    const QString anchor = place.section('#', 1);
    m_position = 0;
    if (!anchor.isEmpty())
        for (QTextBlock block = m_text->document()->begin(); block.isValid(); block = block.next())
            if (block.blockFormat().headingLevel() > 0 && headingAnchor(block.text()) == anchor) {
                m_position = block.position();
                break;
            }
    m_userScrolled = false;
    scrollToPlace();
}

void HelpBook::render()
{
    m_text->document()->setDefaultFont(font());
    m_text->setMarkdown(helpPages()[m_page].text);
    improveLook(m_text->document(), palette());
    markWords();
}

void HelpBook::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        render();
}

void HelpBook::follow(const QUrl& link)
{
    if (link.scheme() == "https") {
        QDesktopServices::openUrl(link);
        return;
    }
    const QString from = helpPages()[m_page].path;
    QString path = link.path();
    path = path.isEmpty() ? from : QDir::cleanPath(from.section('/', 0, 0) + '/' + path);
    open(link.hasFragment() ? path + '#' + link.fragment() : path);
}

void HelpBook::scrollToPlace()
{
    // The layout is complete after pending events.
    QTimer::singleShot(0, this, [this] {
        static_cast<void>(m_text->document()->size()); // completes the layout, and with it the range of the scroll bar
        QTextCursor cursor(m_text->document());
        cursor.setPosition(m_position);
        QScrollBar* bar = m_text->verticalScrollBar();
        bar->setValue(m_position == 0 ? 0 : bar->value() + m_text->cursorRect(cursor).top() - kAboveHeading);
    });
}

void HelpBook::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (!m_userScrolled)
        scrollToPlace();
}

void HelpBook::markWords()
{
    QList<QTextEdit::ExtraSelection> marks;
    for (const QString& word : wordsOf(m_search->text())) {
        QTextCursor at(m_text->document());
        while (!(at = m_text->document()->find(word, at)).isNull()) {
            QTextEdit::ExtraSelection mark;
            mark.cursor = at;
            mark.format.setBackground(palette().highlight());
            mark.format.setForeground(palette().highlightedText());
            marks.append(mark);
        }
    }
    m_text->setExtraSelections(marks);
}

void HelpBook::goBack(int by)
{
    const auto to = static_cast<std::ptrdiff_t>(m_at) + by;
    if (to < 0 || to >= static_cast<std::ptrdiff_t>(m_visited.size()))
        return;
    m_at = static_cast<std::size_t>(to);
    m_goingBack = true;
    open(m_visited[m_at]);
    m_goingBack = false;
}

} // namespace app
