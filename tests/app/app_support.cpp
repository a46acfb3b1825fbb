#include "tests/app/app_support.h"

#include <QApplication>
#include <QCoreApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QTest>
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

void addTimelineShares()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<double>("share");
    QTest::newRow("1920x1080") << QSize(1920, 1080) << 0.45;
    QTest::newRow("1440x900") << QSize(1440, 900) << 0.40;
    QTest::newRow("1366x768") << QSize(1366, 768) << 0.35;
    QTest::newRow("1920x1080 at 200 %") << QSize(960, 540) << 0.30;
}

} // namespace app_test
