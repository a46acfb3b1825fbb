#include "app/services/program_process.h"

#include "profiler/os/process.h"

#include <QProcessEnvironment>
#include <csignal>

namespace app {

ProgramProcess::ProgramProcess()
{
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setChildProcessModifier([] { profiler::os::receiveWhenParentEnds(SIGTERM); });
    connect(&m_process, &QProcess::started, this, &ProgramProcess::started);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &ProgramProcess::takeOutput);
    connect(&m_process, &QProcess::finished, this, [this](int status) {
        takeOutput();
        emit ended(status);
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            emit failedToStart(m_process.errorString());
    });
}

ProgramProcess::~ProgramProcess()
{
    endWithin(std::chrono::milliseconds(0));
}

void ProgramProcess::start(const ProgramStart& what)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const std::string& entry : what.environment)
        if (const auto equals = entry.find('='); equals != std::string::npos)
            environment.insert(QString::fromStdString(entry.substr(0, equals)),
                               QString::fromStdString(entry.substr(equals + 1)));
    m_decoder = QStringDecoder(QStringDecoder::System);
    m_process.setProcessEnvironment(environment);
    m_process.setWorkingDirectory(what.folder);
    m_process.setProcessChannelMode(what.errorsInOutput ? QProcess::MergedChannels : QProcess::SeparateChannels);
    m_process.setStandardErrorFile(what.errorsInOutput ? QString() : QProcess::nullDevice());
    m_process.start(what.program, what.arguments);
}

void ProgramProcess::send(int signal)
{
    if (isRunning())
        profiler::os::sendSignal(static_cast<profiler::os::ProcessId>(pid()), signal);
}

void ProgramProcess::endWithin(std::chrono::milliseconds patience)
{
    m_process.disconnect(this);
    if (!isRunning())
        return;
    if (patience.count() > 0) {
        m_process.terminate();
        m_process.waitForFinished(static_cast<int>(patience.count()));
    }
    if (isRunning()) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

void ProgramProcess::takeOutput()
{
    if (const QByteArray bytes = m_process.readAllStandardOutput(); !bytes.isEmpty())
        emit output(m_decoder.decode(bytes));
}

bool startIndependently(const QStringList& command)
{
    return QProcess::startDetached(command.first(), command.mid(1));
}

} // namespace app
