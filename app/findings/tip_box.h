#pragma once

#include "advisor/advice.h"

#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>

namespace advisor {
struct ProgramValues;
}

namespace app {

/// "Why / when not": the text of a tip, the caveats of this finding, and the code for PyTorch and LibTorch to copy,
/// with the value of the change and the program's own values.
class TipBox : public QWidget {
    Q_OBJECT
public:
    TipBox(const QString& ruleId, const QStringList& caveats, const std::optional<advisor::Toggle>& change,
           const advisor::ProgramValues& values, QWidget* parent);
    /// The card shows the diff of the user's program instead of the code to paste.
    void hideCode();

private:
    QWidget* m_code;
};

} // namespace app
