#include "app/window/help_book.h"

#include "app/look/help_place.h"
#include "app/window/dock.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QDir>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <memory>

using app::HelpBook;
using app::HelpPage;
using app::helpPages;
using app_test::App;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

const HelpPage* pageAt(const QString& path)
{
    for (const HelpPage& page : helpPages())
        if (page.path == path)
            return &page;
    return nullptr;
}

QStringList anchorsOf(const HelpPage& page)
{
    static const QRegularExpression heading("^#+ (.+)$", QRegularExpression::MultilineOption);
    QStringList anchors;
    for (auto at = heading.globalMatch(page.text); at.hasNext();)
        anchors << app::headingAnchor(at.next().captured(1).remove('`').remove('*'));
    return anchors;
}

QStringList shownPages(const HelpBook& book)
{
    QStringList titles;
    const auto* list = book.findChild<QListWidget*>();
    for (int row = 0; row < list->count(); ++row)
        if (list->item(row)->flags() != Qt::NoItemFlags)
            titles << list->item(row)->text();
    return titles;
}

/// The first line that is visible.
QString topLine(const HelpBook& book)
{
    auto* text = book.findChild<QTextBrowser*>();
    return text->cursorForPosition({30, 30}).block().text();
}

/// Whether the block with this text is in the visible part of the page.
bool isVisible(const HelpBook& book, const QString& line)
{
    auto* text = book.findChild<QTextBrowser*>();
    for (QTextBlock block = text->document()->begin(); block.isValid(); block = block.next())
        if (block.text() == line)
            return text->viewport()->rect().contains(text->cursorRect(QTextCursor(block)));
    return false;
}

} // namespace

class HelpBookTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { folders = std::make_unique<app_test::OwnFolders>(); }
    void cleanupTestCase() { folders.reset(); }

    void everyPageHasATitleAndIsListedOnce()
    {
        QStringList paths;
        for (const HelpPage& page : helpPages()) {
            QVERIFY2(!page.title.isEmpty(), qPrintable(page.path));
            QVERIFY2(!paths.contains(page.path), qPrintable(page.path));
            paths << page.path;
        }
        for (const QString& name : QDir(":/docs").entryList({"*.md"}))
            QVERIFY2(paths.contains("docs/" + name), qPrintable(name + " is not linked from index.md"));
    }

    void everyLinkLeadsToAPageAndAHeading()
    {
        static const QRegularExpression link(R"(\]\(([^) ]+\.md[^) ]*|#[^) ]+|https:[^) ]+)\))");
        for (const HelpPage& page : helpPages())
            for (auto at = link.globalMatch(page.text); at.hasNext();) {
                const QString target = at.next().captured(1);
                if (target.startsWith("https://"))
                    continue;
                const QString file = target.section('#', 0, 0), anchor = target.section('#', 1);
                const QString path =
                    file.isEmpty() ? page.path : QDir::cleanPath(page.path.section('/', 0, 0) + '/' + file);
                const HelpPage* to = pageAt(path);
                QVERIFY2(to, qPrintable(page.path + " links to " + target));
                QVERIFY2(anchor.isEmpty() || anchorsOf(*to).contains(anchor), qPrintable(page.path + ": " + target));
            }
    }

    void everyTipIsListed()
    {
        const HelpPage* list = pageAt("docs/tips.md");
        QVERIFY(list);
        for (const HelpPage& page : helpPages())
            if (page.path.startsWith("tips/"))
                QVERIFY2(list->text.contains(QString("[%1](../%2)").arg(page.title, page.path)), qPrintable(page.path));
    }

    void everyDockHasAHeading()
    {
        App app;
        for (const QDockWidget* dock : app.window.findChildren<QDockWidget*>()) {
            const QString place = app::helpPlaceOf(dock);
            QVERIFY2(place.contains('#'), qPrintable("no heading contains " + dock->windowTitle()));
            QVERIFY2(anchorsOf(*pageAt(place.section('#', 0, 0))).contains(place.section('#', 1)), qPrintable(place));
        }
    }

    void aWidgetsPropertyNamesItsPage()
    {
        QWidget outer;
        outer.setProperty(app::kHelpPlace, "tips/compile.md");
        QWidget inner(&outer);
        QCOMPARE(app::helpPlaceOf(&inner), "tips/compile.md");
        QCOMPARE(app::helpPlaceOf(nullptr), "docs/index.md");
    }

    void aPageOpensAtItsHeading()
    {
        HelpBook book(nullptr);
        book.resize(900, 400);
        book.show();
        book.open("docs/views.md#selection");
        QTRY_COMPARE(topLine(book), "Selection");
        book.open("docs/no-such-page.md");
        QTRY_COMPARE(topLine(book), helpPages().front().title);
    }

    void linksAndBackAndForward()
    {
        HelpBook book(nullptr);
        book.show();
        book.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&book));
        auto* text = book.findChild<QTextBrowser*>();
        const auto title = [&] { return text->document()->begin().text(); };
        emit text->anchorClicked(QUrl("measuring.md"));
        QCOMPARE(title(), "How measuring works");
        emit text->anchorClicked(QUrl("tips.md"));
        emit text->anchorClicked(QUrl("../tips/compile.md"));
        QCOMPARE(title(), pageAt("tips/compile.md")->title);
        QTest::keyClick(&book, Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(title(), "Tips");
        QTest::keyClick(&book, Qt::Key_Left, Qt::AltModifier);
        QTest::keyClick(&book, Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(title(), "Tips");
    }

    void theSearchShowsPagesWithAllWordsAndMarksThem()
    {
        HelpBook book(nullptr);
        book.show();
        auto* search = book.findChild<QLineEdit*>();
        QTest::keyClicks(search, "junit slower.xml");
        QCOMPARE(shownPages(book), QStringList{"In continuous integration"});
        search->clear();
        QTest::keyClicks(search, "registers occupancy");
        QVERIFY(shownPages(book).contains("Occupancy of a kernel"));
        book.open("docs/occupancy.md");
        QVERIFY(!book.findChild<QTextBrowser*>()->extraSelections().isEmpty());
        search->clear();
        QTest::keyClicks(search, "nosuchword");
        QVERIFY(shownPages(book).isEmpty());
        search->clear();
        QCOMPARE(shownPages(book).size(), static_cast<int>(helpPages().size()));
    }

    void f1OpensThePageOfThePanelWithTheFocus()
    {
        App app;
        auto* dock = app.window.findChild<app::Dock*>("dock:advisor");
        QVERIFY(dock);
        dock->show();
        dock->setFocusPolicy(Qt::StrongFocus);
        app.window.activateWindow();
        dock->setFocus();
        QTRY_COMPARE(QApplication::focusWidget(), dock);
        QTest::keyClick(&app.window, Qt::Key_F1);
        auto* book = app.window.findChild<HelpBook*>();
        QVERIFY(book);
        QTRY_VERIFY(isVisible(*book, "Advisor and Journal"));
        QVERIFY(!isVisible(*book, "The views"));
    }
};

QTEST_MAIN(HelpBookTest)
#include "help_book_test.moc"
