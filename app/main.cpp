#include "app/look/theme.h"
#include "app/window/application.h"
#include "app/window/main_window.h"
#include "profiler/job/job_files.h"
#include "profiler/model/version.h"
#include "profiler/os/process.h"

#include <QApplication>
#include <QCommandLineParser>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <vector>

namespace {

struct Arguments {
    std::vector<std::filesystem::path> traces;
    QString configuration;
};

/// The command-line options.
struct CommandLine {
    CommandLine()
    {
        parser.setApplicationDescription(
            QApplication::translate("main", "Shows where the time of a training step goes."));
        parser.addHelpOption();
        parser.addVersionOption();
        parser.addOption({"config", QApplication::translate("main", "Training configuration to load."), "FILE"});
        parser.addPositionalArgument(
            "TRACE",
            QApplication::translate("main", "Trace to open: PyTorch JSON, Nsight Systems SQLite, .sstrace "
                                            "or .sspack. A folder or several files: the ranks of a job."),
            "[TRACE…]");
    }

    QCommandLineParser parser;
};

/// Answers --help and --version without a display; a QApplication cannot be created without one.
void answerWithoutADisplay(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    CommandLine line;
    // Qt's own options have one dash: -style, -platform.
    line.parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    line.parser.parse(QCoreApplication::arguments());
    if (line.parser.isSet("help"))
        line.parser.showHelp();
    if (line.parser.isSet("version"))
        line.parser.showVersion();
}

Arguments parse(const QApplication& application)
{
    CommandLine line;
    line.parser.process(application);
    Arguments arguments{{}, line.parser.value("config")};
    for (const QString& trace : line.parser.positionalArguments())
        arguments.traces.emplace_back(trace.toStdString());
    return arguments;
}

/// For tests/bench/first_paint.sh.
void reportFirstPaint(const app::MainWindow& window)
{
    QObject::connect(&window, &app::MainWindow::firstPainted, &window, [] {
        std::printf("first paint after %.1f ms\n",
                    std::chrono::duration<double, std::milli>(profiler::os::processAge()).count());
        std::fflush(stdout);
        std::_Exit(0);
    });
}

int run(int& argc, char** argv)
{
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("stepscope");
    QApplication::setApplicationDisplayName("Stepscope");
    QApplication::setApplicationVersion(QString::fromUtf8(profiler::version()));
    QApplication::setDesktopFileName("stepscope");
    answerWithoutADisplay(argc, argv);
    app::Application application(argc, argv);
    const Arguments arguments = parse(application);
    QApplication::setWindowIcon(QIcon(":/icons/stepscope.svg"));

    app::Appearance appearance;
    app::Workbench bench;
    app::MainWindow window(&bench, &appearance);
    if (qEnvironmentVariableIsSet("STEPSCOPE_FIRST_PAINT"))
        reportFirstPaint(window);
    QObject::connect(&window, &app::MainWindow::completed, &window, [&bench, arguments] {
        bench.state.restore();
        bench.machine.refresh();
        if (!arguments.configuration.isEmpty())
            bench.configuration.load(arguments.configuration.toStdString());
        if (profiler::job::mayBeJob(arguments.traces))
            bench.job.open(arguments.traces);
        else if (!arguments.traces.empty())
            bench.document.openTrace(arguments.traces.front());
    });
    const app::EndSignals endSignals;
    QObject::connect(&endSignals, &app::EndSignals::asked, &window, &app::MainWindow::closeUnasked);
    window.show();
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("stepscope: not enough memory to start\n", stderr);
        return EXIT_FAILURE;
    }
}
