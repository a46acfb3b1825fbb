#pragma once

#include "app/widgets/timeline_find.h"
#include "profiler/model/name_search.h"

#include <QWidget>
#include <memory>

class QLabel;
class QLineEdit;
class QToolButton;

namespace app {

/// The strip over the timeline that finds names: a text or a regular expression, how many there are, and the way from
/// one to the next.
class FindBar : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(QWidget* parent = nullptr);

    /// Takes the focus, with the text selected.
    void open();
    [[nodiscard]] profiler::NamePattern pattern() const;
    void setText(const QString& text);

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
    bool m_isError = false; ///< what m_place says
    quint64 m_count = 0;
    quint64 m_number = 0; ///< place of the match that was gone to; 0: none
};

} // namespace app
