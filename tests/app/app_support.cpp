#include "tests/app/app_support.h"

#include <QCoreApplication>
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

} // namespace app_test
