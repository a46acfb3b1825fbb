#include "app/look/appearance.h"
#include "app/main_window.h"
#include "app/process_start.h"
#include "app/session/selection.h"
#include "app/session/session.h"

#include <QApplication>
#include <QCommandLineParser>
#include <cstdio>

namespace {

struct Arguments {
    QString trace, configuration;
};

Arguments parse(const QApplication& application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QApplication::translate("main", "Shows where the time of a training step goes."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption config("config",
                                    QApplication::translate("main", "Start with this training configuration."), "FILE");
    parser.addOption(config);
    parser.addPositionalArgument(
        "TRACE", QApplication::translate("main", "Trace to open: PyTorch JSON, Nsight Systems SQLite, or ours."),
        "[TRACE]");
    parser.process(application);
    const QStringList positional = parser.positionalArguments();
    return {positional.value(0), parser.value(config)};
}

/// For tests/bench/first_paint.sh.
void reportFirstPaint(const app::MainWindow& window)
{
    QObject::connect(&window, &app::MainWindow::firstPainted, &window, [] {
        std::printf("first paint after %.1f ms\n", app::millisecondsSinceProcessStart());
        std::fflush(stdout);
        std::_Exit(0);
    });
}

} // namespace

int main(int argc, char** argv)
{
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("stepscope");
    QApplication::setApplicationDisplayName("Stepscope");
    QApplication::setApplicationVersion(STEPSCOPE_VERSION);
    QApplication::setDesktopFileName("stepscope");
    QApplication application(argc, argv);
    const Arguments arguments = parse(application);
    QApplication::setWindowIcon(QIcon(":/icons/stepscope.svg"));

    app::Appearance appearance;
    app::Session session;
    app::Selection selection;
    app::MainWindow window(&session, &selection, &appearance);
    if (qEnvironmentVariableIsSet("STEPSCOPE_FIRST_PAINT"))
        reportFirstPaint(window);
    QObject::connect(&window, &app::MainWindow::completed, &session, [&session, arguments] {
        session.restore();
        if (!arguments.configuration.isEmpty())
            session.loadConfiguration(arguments.configuration.toStdString());
        if (!arguments.trace.isEmpty())
            session.openTrace(arguments.trace.toStdString());
    });
    window.show();
    return QApplication::exec();
}
