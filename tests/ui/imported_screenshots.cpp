#include "app/main_window.h"
#include "app/tables/table_panel.h"
#include "app/tables/table_view.h"

#include <QApplication>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <cstdio>
#include <functional>
#include <string_view>

// Opens a trace from elsewhere in the real app, selects one slice of each kind that matters, and takes pictures:
//   stepscope_imported_screenshots TRACE FOLDER [WIDTHxHEIGHT]
namespace {

constexpr int kPatienceMs = 180'000;

class Photographer {
public:
    Photographer(QString trace, QString folder, QSize size)
        : m_folder(std::move(folder)), m_window(&m_session, &m_selection, &m_appearance)
    {
        m_window.resize(size);
        m_window.show();
        await("the window", [this] { return m_window.isComplete(); });
        printMemory("before opening");
        QElapsedTimer timer;
        timer.start();
        bool opened = false;
        QObject::connect(&m_session, &app::Session::traceOpened, &m_window, [&] {
            opened = true;
            std::printf("opened after %lld ms\n", static_cast<long long>(timer.elapsed()));
        });
        m_session.openTrace(trace.toStdString());
        await("the trace", [&] { return opened; });
        await("the analysis",
              [this] { return m_session.analysed() && m_session.analysed()->trace == m_session.trace(); });
        std::printf("%zu slices in %.1f MB of the model\n", m_session.trace()->sliceCount(),
                    static_cast<double>(m_session.trace()->memoryBytes()) / 1e6);
        printMemory("opened and analysed");
    }

    void takeAll()
    {
        raise("summary");
        take("imported");
        using profiler::ActivityKind;
        takeSlice("loader_wait", ActivityKind::UserAnnotation, "enumerate(DataLoader)");
        takeSlice("htod_copy", ActivityKind::GpuMemcpy, "HtoD");
        takeSlice("memset", ActivityKind::GpuMemset, "");
        takeSlice("kernel", ActivityKind::Kernel, "");
        for (const char* table : {"kernels", "ops", "copies", "memsets", "runtime_calls", "nvtx_ranges", "step_table"})
            takeTable(table);
        printMemory("after all tables");
    }

private:
    void await(const char* what, const std::function<bool()>& condition)
    {
        if (!QTest::qWaitFor(condition, kPatienceMs))
            qFatal("%s did not come", what);
        QTest::qWait(500); // what is drawn with a delay
    }

    static void printMemory(const char* when)
    {
        QFile status("/proc/self/status");
        if (!status.open(QIODevice::ReadOnly))
            return;
        for (const QByteArray& line : status.readAll().split('\n'))
            if (line.startsWith("VmRSS") || line.startsWith("VmHWM"))
                std::printf("%s: %s\n", when, line.simplified().constData());
        std::fflush(stdout);
    }

    /// The longest slice of a kind whose name holds a text: selected, shown, with its details.
    void takeSlice(const char* picture, profiler::ActivityKind kind, std::string_view name)
    {
        const auto trace = m_session.trace();
        std::optional<profiler::Slice> longest;
        for (const profiler::Slice& slice : trace->ofKind(kind))
            if (trace->name(slice).find(name) != std::string_view::npos &&
                (!longest || slice.duration > longest->duration))
                longest = slice;
        if (!longest) {
            std::printf("no %s in this trace\n", picture);
            return;
        }
        m_selection.selectSlice(longest->id);
        const auto around = longest->duration * 2;
        m_selection.show({longest->begin - around, longest->end() + around}, longest->id.track);
        raise("selection");
        take(picture);
    }

    void takeTable(const char* dock)
    {
        raise(dock);
        auto* panel = m_window.findChild<QDockWidget*>(QString("dock:%1").arg(dock))->findChild<app::TablePanel*>();
        await(dock, [&] { return panel->isUpToDate(); });
        auto* model = panel->view()->table();
        if (model->rowCount() > 1)
            panel->view()->setCurrentIndex(model->index(1, 0));
        take(QString("table_%1").arg(dock));
    }

    void raise(const char* dock)
    {
        auto* found = m_window.findChild<QDockWidget*>(QString("dock:%1").arg(dock));
        if (!found)
            qFatal("there is no dock %s", dock);
        found->raise();
        QTest::qWait(400);
    }

    void take(const QString& name)
    {
        for (const auto& [theme, suffix] :
             {std::pair(app::Theme::Dark, "dark"), std::pair(app::Theme::Light, "light")}) {
            m_appearance.setTheme(theme);
            QTest::qWait(150);
            const QString file = QString("%1/%2_%3.png").arg(m_folder, name, suffix);
            if (!m_window.grab().save(file))
                qFatal("%s cannot be written", qPrintable(file));
            std::printf("%s\n", qPrintable(file));
        }
        std::fflush(stdout);
    }

    QString m_folder;
    app::Appearance m_appearance;
    app::Session m_session;
    app::Selection m_selection;
    app::MainWindow m_window;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("stepscope");
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 3) {
        std::fputs("stepscope_imported_screenshots TRACE FOLDER [WIDTHxHEIGHT]\n", stderr);
        return 2;
    }
    const QStringList size = arguments.value(3, "1600x950").split('x');
    Photographer(arguments[1], arguments[2], {size.value(0).toInt(), size.value(1).toInt()}).takeAll();
    return 0;
}
