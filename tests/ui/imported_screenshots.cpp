#include "app/document/trace_pair.h"
#include "app/tables/table_panel.h"
#include "app/tables/table_view.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/compare/compare.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>
#include <cstdio>
#include <string_view>

// Opens an imported trace in the real app, selects one slice of each important kind, and takes screenshots:
// stepscope_imported_screenshots TRACE FOLDER [WIDTHxHEIGHT [OTHER_TRACE]]
namespace {

constexpr int kNotches = 6; ///< wheel notches, each a fifth larger

class TracePhotographer : private ui::Photographer {
public:
    TracePhotographer(const QString& trace, QString folder, QSize size) : Photographer(std::move(folder), size)
    {
        printMemory("before opening");
        QElapsedTimer timer;
        timer.start();
        bool opened = false;
        QObject::connect(&m_bench.document, &app::TraceDocument::traceOpened, &m_window, [&] {
            opened = true;
            std::printf("opened after %lld ms\n", static_cast<long long>(timer.elapsed()));
        });
        const auto watch = [&, shown = 0]() mutable {
            if (opened || m_bench.document.trace()->sliceCount() == 0)
                return;
            std::printf("%zu slices on screen after %lld ms\n", m_bench.document.trace()->sliceCount(),
                        static_cast<long long>(timer.elapsed()));
            if (shown++ == 1) // the second preview: the window layout is final
                QTimer::singleShot(0, &m_window, [this] { take("loading"); });
        };
        const auto watching = QObject::connect(&m_bench.document, &app::TraceDocument::traceChanged, &m_window, watch);
        m_bench.document.openTrace(trace.toStdString());
        await("the trace", [&] { return opened; });
        QObject::disconnect(watching);
        awaitAnalysis();
        std::printf("%zu slices in %.1f MB of the model\n", m_bench.document.trace()->sliceCount(),
                    static_cast<double>(m_bench.document.trace()->memoryBytes()) / 1e6);
        printMemory("opened and analysed");
    }

    void takeAll()
    {
        raise("summary");
        take("imported");
        takeZoom();
        takeFoundSteps();
        using profiler::ActivityKind;
        // In old schemas the loader's range is an operator, in new ones an annotation.
        takeSlice("loader_wait", {ActivityKind::UserAnnotation, ActivityKind::CpuOp}, "enumerate(DataLoader)");
        takeSlice("htod_copy", {ActivityKind::GpuMemcpy}, "HtoD");
        takeSlice("memset", {ActivityKind::GpuMemset}, "");
        takeSlice("kernel", {ActivityKind::Kernel}, "");
        for (const char* table : {"kernels", "ops", "copies", "memsets", "runtime_calls", "nvtx_ranges", "step_table"})
            takeTable(table);
        printMemory("after all tables");
    }

    void takeComparison(const QString& other)
    {
        raise("compare");
        auto* panel = m_window.findChild<app::ComparePanel*>();
        panel->compareWith(other.toStdString(), QFileInfo(other).fileName());
        await("the comparison", [panel] { return panel->findChild<QLabel*>("compareVerdict")->isVisible(); });
        take("compare");
        // Low, the chart has hardly any space.
        auto* dock = m_window.findChild<QDockWidget*>("dock:compare");
        m_window.resizeDocks({dock}, {m_window.height() / 2}, Qt::Vertical);
        auto* charts = panel->findChild<QComboBox*>("compareChartOf");
        for (int i = 0; i < charts->count(); ++i) {
            charts->setCurrentIndex(i);
            emit charts->activated(i);
            QTest::qWait(100);
            take(QString("compare_chart_%1").arg(i));
        }
    }

    /// The other trace next to this one, as a whole, at a step, and at a kernel of the step.
    void takeSideBySide(const QString& other)
    {
        app::TracePair& pair = m_bench.pair;
        pair.open(other.toStdString());
        await("the second trace", [&] {
            const auto* second = pair.document(app::Side::Second);
            return second && second->analysed() && second->analysed()->trace == second->trace() && pair.isUpToDate();
        });
        take("side_by_side");
        pair.goToStep(1);
        await("the difference", [&] { return pair.isUpToDate(); });
        take("side_by_side_step");
        if (pair.difference())
            for (const auto& row : pair.difference()->rows)
                if (row.kind == profiler::ActivityKind::Kernel && row.countA > 0 && row.countA == row.countB) {
                    const profiler::Slice slice = m_bench.document.trace()->slice(*row.longestA);
                    m_bench.document.selection()->selectSlice(slice.id);
                    m_bench.document.selection()->show(
                        {slice.begin - 10 * slice.duration, slice.end() + 10 * slice.duration}, slice.id.track);
                    break;
                }
        await("the counterpart", [&] { return pair.isUpToDate(); });
        m_bench.document.selection()->showDetails();
        take("side_by_side_kernel");
        pair.close();
        take("side_by_side_closed");
    }

private:
    /// While the wheel turns, and after it has stopped.
    void takeZoom()
    {
        auto* canvas = m_window.findChild<app::TimelineCanvas*>();
        for (const auto& [theme, suffix] :
             {std::pair(app::Theme::Dark, "dark"), std::pair(app::Theme::Light, "light")}) {
            m_appearance.setTheme(theme);
            canvas->navigation().fitAll();
            await("the whole trace", [canvas] { return canvas->isExact(); });
            canvas->grab();
            for (int notch = 0; notch < kNotches; ++notch) {
                const QPointF at(canvas->width() * 0.6, canvas->height() * 0.4);
                QWheelEvent event(at, canvas->mapToGlobal(at), {}, {0, QWheelEvent::DefaultDeltasPerStep}, Qt::NoButton,
                                  Qt::NoModifier, Qt::NoScrollPhase, false);
                QApplication::sendEvent(canvas->viewport(), &event);
                if (!canvas->grab().save(QString("%1/zooming_%2.png").arg(m_folder, suffix)))
                    qFatal("a screenshot cannot be written");
            }
            await("rest", [canvas] { return canvas->isExact(); });
            canvas->grab().save(QString("%1/zoomed_%2.png").arg(m_folder, suffix));
        }
        canvas->navigation().fitAll();
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

    /// If the summary offers to infer steps.
    void takeFoundSteps()
    {
        auto* choice = m_window.findChild<QLabel*>("stepChoice");
        if (!choice || choice->isHidden())
            return;
        if (const auto analysed = m_bench.document.analysed(); analysed && analysed->facts.steps.empty())
            return;
        take("found_steps");
        raise("step_table");
        take("found_steps_table");
    }

    /// The longest slice of these kinds whose name contains a text: selected and shown with its details.
    void takeSlice(const char* picture, std::initializer_list<profiler::ActivityKind> kinds, std::string_view name)
    {
        const auto trace = m_bench.document.trace();
        std::optional<profiler::Slice> longest;
        for (const profiler::ActivityKind kind : kinds)
            for (const profiler::Slice& slice : trace->ofKind(kind))
                if (trace->name(slice).find(name) != std::string_view::npos &&
                    (!longest || slice.duration > longest->duration))
                    longest = slice;
        if (!longest) {
            std::printf("no %s in this trace\n", picture);
            return;
        }
        m_bench.document.selection()->selectSlice(longest->id);
        const auto around = longest->duration * 2;
        m_bench.document.selection()->show({longest->begin - around, longest->end() + around}, longest->id.track);
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
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 3) {
        std::fputs("stepscope_imported_screenshots TRACE FOLDER [WIDTHxHEIGHT [OTHER_TRACE]]\n", stderr);
        return 2;
    }
    TracePhotographer photographer(arguments[1], arguments[2], ui::sizeOf(arguments.value(3, "1600x950")));
    photographer.takeAll();
    if (arguments.size() > 4) {
        photographer.takeComparison(arguments[4]);
        photographer.takeSideBySide(arguments[4]);
    }
    return 0;
}
