// Time from opening a file of our own format until its timeline is painted: the whole app in one process with its
// window, workbench and all views, offscreen or on the current display. The files are in the page cache.
//
//   first_view_bench [--sizes 1000000,10000000] [--runs 5] [--png FILE]
//
// Per size: file size, median and extremes of the first painted timeline that shows the file, and of the end of
// loading; the longest time during which the window did not respond.

#include "app/timeline/timeline_canvas.h"
#include "app/window/main_window.h"
#include "profiler/formats/format.h"
#include "tests/app_timeline/training_trace.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace {

/// Notices when a canvas has painted a trace that is not empty.
class FirstPaint : public QObject {
public:
    explicit FirstPaint(app::TimelineCanvas* canvas) : m_canvas(canvas)
    {
        m_canvas->viewport()->installEventFilter(this);
    }
    void begin()
    {
        m_at = -1;
        m_longest = 0;
        m_timer.start();
        m_beat.start();
    }
    [[nodiscard]] double atMs() const { return m_at; }
    [[nodiscard]] double nowMs() const { return static_cast<double>(m_timer.nsecsElapsed()) / 1e6; }
    [[nodiscard]] double longestMs() const { return m_longest; }
    /// Earlier time does not count as time without a response.
    void pass() { m_beat.start(); }
    /// Handles pending events and measures how long this takes.
    void turn()
    {
        QApplication::processEvents(QEventLoop::WaitForMoreEvents, 1);
        m_longest = std::max(m_longest, static_cast<double>(m_beat.nsecsElapsed()) / 1e6);
        m_beat.start();
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (m_at >= 0 || m_painting || event->type() != QEvent::Paint || m_canvas->scene().trace->sliceCount() == 0)
            return false;
        m_painting = true;
        QCoreApplication::sendEvent(watched, event);
        m_painting = false;
        m_at = nowMs();
        return true;
    }

private:
    app::TimelineCanvas* m_canvas;
    QElapsedTimer m_timer, m_beat;
    double m_at = -1, m_longest = 0;
    bool m_painting = false;
};

struct App {
    app::Appearance appearance;
    app::Workbench bench;
    app::MainWindow window{&bench, &appearance};
    App()
    {
        window.resize(1920, 1080);
        window.show();
        while (!window.isComplete())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
};

struct Times {
    double updated, first, loaded, longest;
};

Times measure(const std::filesystem::path& file, const QString& picture)
{
    App app;
    auto* canvas = app.window.findChild<app::TimelineCanvas*>();
    FirstPaint paint(canvas);
    bool done = false;
    QObject::connect(&app.bench.document, &app::TraceDocument::traceOpened, [&done] { done = true; });
    QObject::connect(&app.bench.notices, &app::Notices::noticed, [](const QString& text, const QString&, bool isError) {
        if (isError)
            std::fprintf(stderr, "%s\n", qPrintable(text));
    });
    double updated = -1; // all views have been updated
    QObject::connect(&app.bench.document, &app::TraceDocument::traceReplaced,
                     [&] { updated = updated < 0 ? paint.nowMs() : updated; });
    paint.begin();
    app.bench.document.openTrace(file);
    while (paint.atMs() < 0)
        paint.turn();
    if (!picture.isEmpty()) {
        app.window.grab().save(picture);
        paint.pass();
    }
    while (!done)
        paint.turn();
    return {updated, paint.atMs(), paint.nowMs(), paint.longestMs()};
}

void print(const char* what, std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    std::printf("  %-34s median %8.1f ms, from %8.1f to %8.1f\n", what, times[times.size() / 2], times.front(),
                times.back());
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    // Separate settings and runs: the user's are not changed, and do not affect the measurement.
    const QTemporaryDir own;
    for (const char* place : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
        qputenv(place, own.path().toUtf8());
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("first_view_bench");
    QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({"sizes", "Slices of the files.", "LIST", "1000000,10000000"});
    parser.addOption({"runs", "Openings of each.", "COUNT", "5"});
    parser.addOption({"png", "Save an image of the first view.", "FILE"});
    parser.process(application);
    for (const QString& size : parser.value("sizes").split(',')) {
        const std::filesystem::path file = own.filePath(size + ".sspack").toStdString();
        if (const auto written = profiler::formats::saveTrace(*test::trainingTraceOf(size.toULongLong()), file);
            !written) {
            std::fprintf(stderr, "%s\n", written.error().message().c_str());
            return 1;
        }
        std::printf("%s slices, %.1f MB\n", qPrintable(size),
                    static_cast<double>(std::filesystem::file_size(file)) / 1e6);
        std::vector<double> updated, first, loaded, longest;
        for (int run = 0; run < std::max(1, parser.value("runs").toInt()); ++run) {
            const Times times = measure(file, parser.value("png"));
            updated.push_back(times.updated);
            first.push_back(times.first);
            loaded.push_back(times.loaded);
            longest.push_back(times.longest);
        }
        print("views updated after", updated);
        print("timeline painted after", first);
        print("loaded after", loaded);
        print("longest without a response", longest);
        std::fflush(stdout);
    }
    return 0;
}
