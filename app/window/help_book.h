#pragma once

#include <QString>
#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;
class QUrl;

namespace app {

/// A page of the book.
struct HelpPage {
    QString path;  ///< below the resources: "docs/views.md", "tips/loader.workers.md"
    QString title; ///< the first heading
    QString text;  ///< Markdown
};

/// All pages: those of resources/docs in the order of index.md, then the tips by title.
const std::vector<HelpPage>& helpPages();

/// The anchor of a heading, as GitHub makes it: "What recording costs" is what-recording-costs.
QString headingAnchor(const QString& heading);

/// Where the book explains a widget: kHelpPlace of the widget or a parent, or a heading that names its dock.
/// @return a path with an anchor, as "docs/views.md#selection"; the first page if nothing is more specific
QString helpPlaceOf(const QWidget* widget);

/// The book, in its own window: pages, a search over their text, and links. GUI thread.
class HelpBook : public QWidget {
    Q_OBJECT
public:
    explicit HelpBook(QWidget* window);

    /// Shows a page and scrolls to a heading.
    /// @param place  as helpPlaceOf() returns it; the first page if there is no such page
    void open(const QString& place);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void search(const QString& text);
    void openRow(int row);
    void render();
    void follow(const QUrl& link);
    void scrollToPlace();
    void markWords();
    void goBack(int by);

    QLineEdit* m_search;
    QListWidget* m_list;
    QLabel* m_none;
    QTextBrowser* m_text;
    std::size_t m_page = 0;
    int m_position = 0;             ///< of the heading in the page
    bool m_userScrolled = false;    ///< since the page was opened
    std::vector<QString> m_visited; ///< places
    std::size_t m_at = 0;           ///< in m_visited
    bool m_goingBack = false;
};

} // namespace app
