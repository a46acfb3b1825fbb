#include "app/services/machine_state.h"

#include "advisor/experiment/trainer_process.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace app {

MachineState::MachineState(QObject* parent) : QObject(parent)
{
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setStandardErrorFile(QProcess::nullDevice());
    connect(&m_process, &QProcess::finished, this, &MachineState::take);
}

MachineState::~MachineState()
{
    m_process.disconnect(this);
    m_process.kill();
    m_process.waitForFinished();
}

void MachineState::refresh()
{
    const auto program = advisor::findCommandLineProgram();
    if (!program || m_process.state() != QProcess::NotRunning)
        return;
    m_process.start(QString::fromStdString(program->string()), {"doctor", "--json"}, QIODevice::ReadOnly);
}

void MachineState::take()
{
    const QJsonDocument json = QJsonDocument::fromJson(m_process.readAllStandardOutput());
    if (!json["checks"].isArray())
        return;
    m_problems.clear();
    for (const QJsonValue& check : json["checks"].toArray()) {
        // This app has a display, and what no command can change is no problem.
        const bool isProblem = check["state"] != "works" && check["fix"].isString() && check["id"] != "display";
        if (isProblem)
            m_problems.push_back(
                {check["id"].toString(), check["message"]["text"].toString(), check["fix"].toString()});
    }
    emit changed();
}

} // namespace app
