// Frame times of the timeline at 1920×1080: what a user's hand waits for. Each iteration is one frame of a gesture,
// painted into an image by the widget itself. Counters: p50, p99 and max over the frames, in ms; 60 frames a second
// leave 16.7. The thread's own CPU time is given beside the wall clock's: on a busy machine they differ.

#include "app/widgets/timeline_canvas.h"
#include "tests/app_timeline/training_trace.h"

#include <QApplication>
#include <QImage>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <numbers>

namespace {

using Clock = std::chrono::steady_clock;

double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::shared_ptr<const profiler::Trace> traceOf(std::size_t slices)
{
    static std::map<std::size_t, std::shared_ptr<const profiler::Trace>> made;
    auto& trace = made[slices];
    if (!trace)
        trace = test::trainingTraceOf(slices);
    return trace;
}

struct Stage {
    app::TimelineCanvas canvas;
    QImage image{1920, 1080, QImage::Format_RGB32}; ///< as a window without alpha is backed
    std::vector<double> frames, cpu;

    explicit Stage(std::size_t slices)
    {
        canvas.resize(1920, 1080);
        canvas.setTrace(traceOf(slices));
        canvas.show();
        QApplication::processEvents();
    }

    /// The gesture's event and the frame that answers it.
    template <class Gesture>
    void frame(Gesture&& gesture)
    {
        const auto begin = Clock::now();
        const double cpuBegin = threadMs();
        gesture();
        canvas.viewport()->render(&image);
        cpu.push_back(threadMs() - cpuBegin);
        frames.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }

    void report(benchmark::State& state)
    {
        std::sort(frames.begin(), frames.end());
        std::sort(cpu.begin(), cpu.end());
        const std::size_t p99 = std::min(frames.size() - 1, frames.size() * 99 / 100);
        state.counters["slices"] = static_cast<double>(canvas.scene().trace->sliceCount());
        state.counters["p50_ms"] = frames[frames.size() / 2];
        state.counters["p99_ms"] = frames[p99];
        state.counters["max_ms"] = frames.back();
        state.counters["cpu_p50_ms"] = cpu[cpu.size() / 2];
        state.counters["cpu_p99_ms"] = cpu[p99];
        state.counters["cpu_max_ms"] = cpu.back();
    }
};

void wheel(app::TimelineCanvas& canvas, QPointF at, int angle)
{
    QWheelEvent event(at, canvas.viewport()->mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas.viewport(), &event);
}

/// From the whole trace down to a few microseconds and back, at a moving pointer.
void zoom(benchmark::State& state)
{
    Stage stage(static_cast<std::size_t>(state.range(0)));
    int i = 0;
    for (auto _ : state) {
        const double x = 1050 + 600 * std::sin(i * 0.05);
        stage.frame([&] { wheel(stage.canvas, {x, 400}, i / 80 % 2 == 0 ? 120 : -120); });
        ++i;
    }
    stage.report(state);
}

/// A drag to and fro at a zoom where `range(1)` steps are in view.
void pan(benchmark::State& state)
{
    Stage stage(static_cast<std::size_t>(state.range(0)));
    const auto steps = stage.canvas.scene().trace->ofKind(profiler::ActivityKind::Step);
    const std::size_t middle = steps.size() / 2,
                      last = std::min(steps.size() - 1, middle + static_cast<std::size_t>(state.range(1)));
    stage.canvas.bringIntoView({steps[middle].begin, steps[last].end()});
    int i = 0;
    for (auto _ : state) {
        const double angle = i++ * std::numbers::pi / 180;
        const QPointF at(1050 + 500 * std::sin(angle), 500);
        stage.frame([&] {
            if (i == 1)
                stage.canvas.panLeft();
            QMouseEvent press(QEvent::MouseButtonPress, at, stage.canvas.viewport()->mapToGlobal(at), Qt::LeftButton,
                              Qt::LeftButton, Qt::NoModifier);
            const QPointF to = at + QPointF(31, 0);
            QMouseEvent move(QEvent::MouseMove, to, stage.canvas.viewport()->mapToGlobal(to), Qt::NoButton,
                             Qt::LeftButton, Qt::NoModifier);
            QMouseEvent release(QEvent::MouseButtonRelease, to, stage.canvas.viewport()->mapToGlobal(to),
                                Qt::LeftButton, Qt::NoButton, Qt::NoModifier);
            for (QMouseEvent* event : {&press, &move, &release})
                QApplication::sendEvent(stage.canvas.viewport(), event);
        });
    }
    stage.report(state);
}

/// The pointer over a still picture.
void hover(benchmark::State& state)
{
    Stage stage(static_cast<std::size_t>(state.range(0)));
    int i = 0;
    for (auto _ : state) {
        const QPointF at(300 + i++ * 7 % 1500, 200);
        stage.frame([&] {
            QMouseEvent move(QEvent::MouseMove, at, stage.canvas.viewport()->mapToGlobal(at), Qt::NoButton,
                             Qt::NoButton, Qt::NoModifier);
            QApplication::sendEvent(stage.canvas.viewport(), &move);
        });
    }
    stage.report(state);
}

} // namespace

BENCHMARK(zoom)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->Iterations(800);
BENCHMARK(pan)->ArgsProduct({{10'000, 100'000, 1'000'000}, {2, 20}})->Unit(benchmark::kMillisecond)->Iterations(600);
BENCHMARK(hover)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->Iterations(600);

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
