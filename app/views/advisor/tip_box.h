#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>

namespace app {

/// "Why / when not": the text of a tip, this finding's caveats, and the code for PyTorch and LibTorch, to copy.
class TipBox : public QWidget {
    Q_OBJECT
public:
    TipBox(const QString& ruleId, const QStringList& caveats, QWidget* parent);
};

} // namespace app
