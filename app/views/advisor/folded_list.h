#pragma once

#include "advisor/rule.h"

#include <QWidget>
#include <vector>

class QLabel;
class QToolButton;

namespace app {

/// A heading with a count; unfolded, each rule with its reason.
class FoldedList : public QWidget {
    Q_OBJECT
public:
    FoldedList(const QString& name, QWidget* parent);

    void show(const QString& title, const std::vector<advisor::RuleAdvice>& rules);

private:
    void fold(bool folded);

    QToolButton* m_heading;
    QLabel* m_body;
};

} // namespace app
