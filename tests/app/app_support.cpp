#include "tests/app/app_support.h"

#include <QApplication>
#include <QCoreApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <string>

namespace app_test {

OwnFolders::OwnFolders()
{
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
        qputenv(name, m_folder.filePath(name).toUtf8());
    QCoreApplication::setOrganizationName("Stepscope");
    QCoreApplication::setApplicationName("stepscope");
    qputenv("STEPSCOPE_TRAINER", STEPSCOPE_SCRIPTED_TRAINER);
    useScript("train");
}

void useScript(const char* script)
{
    qputenv("STEPSCOPE_SCRIPT", script);
}

config::TrainingConfig shortTraining(int steps)
{
    config::TrainingConfig configuration;
    static_cast<void>(configuration.set("run.steps", std::to_string(steps)));
    return configuration;
}

SaveAs::SaveAs(QString file) : m_file(std::move(file))
{
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    connect(&m_look, &QTimer::timeout, this, &SaveAs::look);
    m_look.start(10);
}

void SaveAs::look()
{
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (!dialog)
        return;
    m_look.stop();
    m_asked = true;
    find<QLineEdit>(dialog, "fileNameEdit")->setText(m_file);
    QMetaObject::invokeMethod(dialog, "accept");
}

app::FindingServices cardServices(app::Workbench& bench)
{
    return {&bench.notices, &bench.document,    &bench.configuration, &bench.jobs,
            &bench.journal, &bench.experiments, &bench.training};
}

} // namespace app_test
