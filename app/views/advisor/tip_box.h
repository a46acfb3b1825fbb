#pragma once

#include "advisor/advice.h"

#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>

namespace config {
class TrainingConfig;
}

namespace app {

/// "Why / when not": the text of a tip, this finding's caveats, and the code for PyTorch and LibTorch, to copy:
/// with the values of the change, else of the run's configuration, which may be null.
class TipBox : public QWidget {
    Q_OBJECT
public:
    TipBox(const QString& ruleId, const QStringList& caveats, const std::optional<advisor::Toggle>& change,
           const config::TrainingConfig* config, QWidget* parent);
};

} // namespace app
