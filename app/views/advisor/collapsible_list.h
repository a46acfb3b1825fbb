#pragma once

#include "advisor/rule.h"

#include <QWidget>
#include <vector>

class QLabel;
class QToolButton;

namespace app {

/// A heading with a count; when expanded, a list of entries with a title and a text.
class CollapsibleList : public QWidget {
    Q_OBJECT
public:
    CollapsibleList(const QString& name, QWidget* parent);

    struct Entry {
        QString title, text;
    };
    /// @param note  text above the entries; may be empty
    void show(const QString& title, const std::vector<Entry>& entries, const QString& note = {});
    /// Rules with their reasons.
    void show(const QString& title, const std::vector<advisor::RuleAdvice>& rules);

    void fold(bool folded);

private:
    QToolButton* m_heading;
    QLabel* m_body;
};

} // namespace app
