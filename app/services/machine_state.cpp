#include "app/services/machine_state.h"

#include "advisor/experiment/trainer_process.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace app {

MachineState::MachineState(QObject* parent) : QObject(parent)
{
    connect(&m_process, &ProgramProcess::output, this, [this](const QString& text) { m_output += text; });
    connect(&m_process, &ProgramProcess::ended, this, &MachineState::take);
}

void MachineState::refresh()
{
    const auto program = advisor::findCommandLineProgram();
    if (!program || m_process.isRunning())
        return;
    m_output.clear();
    m_process.start({.program = QString::fromStdString(program->string()),
                     .arguments = {"doctor", "--json"},
                     .folder = {},
                     .environment = {},
                     .errorsInOutput = false});
}

void MachineState::take()
{
    const QJsonDocument json = QJsonDocument::fromJson(m_output.toUtf8());
    if (!json["checks"].isArray())
        return;
    m_problems.clear();
    for (const QJsonValue check : json["checks"].toArray()) {
        // This app has a display, and a check that no command can fix is not a problem.
        const bool isProblem = check["state"] != "works" && check["fix"].isString() && check["id"] != "display";
        if (isProblem)
            m_problems.push_back(
                {check["id"].toString(), check["message"]["text"].toString(), check["fix"].toString()});
    }
    emit changed();
}

} // namespace app
