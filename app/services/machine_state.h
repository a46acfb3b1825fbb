#pragma once

#include "app/services/program_process.h"

#include <QObject>
#include <QString>
#include <vector>

namespace app {

/// Parts of Stepscope that do not work on this machine although a command would make them work. The terminal program
/// checks this (`stepscope-cli doctor`) in a separate process, so that a hanging driver or interpreter delays
/// nothing.
class MachineState : public QObject {
    Q_OBJECT
public:
    struct Problem {
        QString id, text, fix;
    };

    /// The destructor stops a check that is still running.
    explicit MachineState(QObject* parent = nullptr);

    /// Starts a check, unless one is running. Nothing changes if it fails.
    void refresh();
    /// Empty until the first check has ended.
    [[nodiscard]] const std::vector<Problem>& problems() const { return m_problems; }

signals:
    void changed();

private:
    void take();

    ProgramProcess m_process;
    QString m_output; ///< of the check so far
    std::vector<Problem> m_problems;
};

} // namespace app
