#pragma once

#include "app/timeline/timeline_find.h"
#include "profiler/model/name_search.h"

#include <QWidget>
#include <memory>

class QLabel;
class QLineEdit;
class QToolButton;

namespace app {

/// The search bar above the timeline: a text or regular expression, the number of matches, and buttons to go from one
/// to the next.
class FindBar : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(QWidget* parent = nullptr);

    /// Takes the focus and selects the text.
    void open();
    [[nodiscard]] profiler::NamePattern pattern() const;

    void showSearching();
    void showHits(const std::shared_ptr<const FindHits>& hits);
    void showPlace(quint64 number);
    void showError(const QString& message);

signals:
    void patternChanged();
    void next();
    void previous();
    void closed();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QToolButton* addButton(const QString& text, const QString& tip);
    void say(const QString& text, bool error = false);
    void colourPlace();

    QLineEdit* m_text;
    QToolButton *m_case, *m_regex, *m_previous, *m_next;
    QLabel* m_place;
    bool m_isError = false; ///< content of m_place
    quint64 m_count = 0;
    quint64 m_number = 0; ///< number of the current match; 0: none
};

} // namespace app
