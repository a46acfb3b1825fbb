// Frame times of the timeline at 1920×1080, as a user experiences them. A frame is the event of a gesture and the image
// that follows, painted by the widget itself on one thread. Traces of 10 thousand to 10 million slices are measured in
// one run with the same gestures; 60 frames per second allow 16.7 ms.
//
//   timeline_bench [--sizes 10000,1000000] [--frames 600] [--only zoom] [--png FILE] [--second]
//
// Per gesture and size: median, 95th and 99th percentile and largest frame in wall-clock time, and the same in CPU time
// of the thread, which differs on a busy machine; and a histogram of all frames of a size. When a zoom gesture pauses,
// the image is made exact: these frames count as a separate gesture.
//
// With --second, each gesture is also played with a second trace of the same size below the first, alternately: with a
// second timeline that does not move, and with one that moves along. The frames are those of the first timeline, so
// their ratio shows whether the second one slows it down; the time to paint the second one is a separate figure.
//
// Two figures compare a trace with the first one. "× first" is the ratio of the median frames. However, a zoom into a
// long trace passes more views in which every pixel is covered, and a zoom into a short trace more views with ten
// slices: "× alike" is the median ratio of each frame to the first trace's frames in views of about the same length, or
// in its longest views if the first trace is shorter.

#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "tests/app_timeline/training_trace.h"

#include <QAction>
#include <QApplication>
#include <QCommandLineParser>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Times in ms, sorted.
struct Times {
    std::vector<double> sorted;

    explicit Times(std::vector<double> times) : sorted(std::move(times)) { std::sort(sorted.begin(), sorted.end()); }
    [[nodiscard]] double at(double share) const
    {
        return sorted[std::min(sorted.size() - 1,
                               static_cast<std::size_t>(static_cast<double>(sorted.size()) * share))];
    }
};

/// A canvas on one trace, and the frames painted so far.
struct Stage {
    app::TimelineCanvas canvas;
    QImage image{1920, 1080, QImage::Format_RGB32}; ///< the format of a window without alpha
    std::vector<double> wall, cpu;
    std::vector<int> views; ///< length of each frame's view, see viewOf()

    /// A second timeline, which shares the height.
    enum class Second { None, Still, Follows };
    std::unique_ptr<app::TimelineCanvas> second;
    std::vector<double> secondCpu; ///< ms to paint it
    Second mode = Second::None;

    explicit Stage(std::shared_ptr<const profiler::Trace> trace, Second with = Second::None) : mode(with)
    {
        if (with != Second::None) {
            second = std::make_unique<app::TimelineCanvas>();
            second->resize(1920, 1080);
            second->setTrace(trace);
            second->show();
        }
        canvas.resize(1920, 1080);
        canvas.setTrace(std::move(trace));
        canvas.show();
        QApplication::processEvents();
        canvas.viewport()->render(&image); // fills fonts and caches before the first measured frame
    }

    void frame(const std::function<void()>& gesture)
    {
        const auto begin = Clock::now();
        const double cpuBegin = threadMs();
        gesture();
        canvas.viewport()->render(&image);
        cpu.push_back(threadMs() - cpuBegin);
        wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        if (mode == Second::Follows) {
            const double secondBegin = threadMs();
            second->showRange(canvas.scene().axis.visible());
            second->viewport()->render(&image);
            secondCpu.push_back(threadMs() - secondBegin);
        }
        views.push_back(viewOf(canvas.scene().axis.visible()));
    }
    /// Views with the same number have about the same length, within a factor of four.
    static int viewOf(profiler::TimeRange visible)
    {
        return std::bit_width(static_cast<std::uint64_t>(visible.duration().count())) / 2;
    }
    /// Notches of a wheel from the whole trace down to a microsecond.
    [[nodiscard]] int notches() const
    {
        const auto whole = static_cast<double>(canvas.scene().axis.bounds().duration().count());
        return static_cast<int>(std::ceil(std::log(std::max(whole / 1000, 2.0)) / std::log(1.2)));
    }

    void mouse(QEvent::Type type, QPointF at, Qt::MouseButton button, Qt::MouseButtons buttons)
    {
        QMouseEvent event(type, at, canvas.viewport()->mapToGlobal(at), button, buttons, Qt::NoModifier);
        QApplication::sendEvent(canvas.viewport(), &event);
    }
};

/// From the whole trace down to a microsecond and back, at a moving pointer, repeated for the given number of frames.
void zoom(Stage& stage, int frames)
{
    const int oneWay = stage.notches();
    const int bothWays = (frames + 2 * oneWay - 1) / (2 * oneWay);
    for (int i = 0; i < bothWays * 2 * oneWay; ++i) {
        const QPointF at(1050 + 600 * std::sin(i * 0.05), 400);
        stage.frame([&] {
            QWheelEvent event(at, stage.canvas.viewport()->mapToGlobal(at), {}, {0, i / oneWay % 2 == 0 ? 120 : -120},
                              Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(stage.canvas.viewport(), &event);
        });
    }
}

/// Some notches, then a pause: the frames in which the image is made exact again, at scales from the whole trace to 1
/// µs and back.
void rest(Stage& stage, int frames)
{
    constexpr int kRestsOneWay = 24;
    const int notchesARest = (stage.notches() + kRestsOneWay - 1) / kRestsOneWay;
    const int rests = std::max(2 * kRestsOneWay, frames / 8);
    const auto notch = [&stage](QPointF at, int angle) {
        QWheelEvent event(at, stage.canvas.viewport()->mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(stage.canvas.viewport(), &event);
    };
    for (int i = 0; i < rests; ++i) {
        const QPointF at(1050 + 600 * std::sin(i * 0.3), 400);
        for (int k = 0; k < notchesARest; ++k) {
            notch(at, i / kRestsOneWay % 2 == 0 ? 120 : -120);
            stage.canvas.viewport()->render(&stage.image);
        }
        while (stage.canvas.scene().zooming)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        do
            stage.frame([] {});
        while (!stage.canvas.isExact());
    }
}

/// A drag back and forth while part of the trace is in view.
void pan(Stage& stage, int frames, profiler::TimeRange shown)
{
    stage.canvas.showRange(shown);
    stage.canvas.viewport()->render(&stage.image);
    for (int i = 0; i < frames; ++i) {
        const QPointF at(1050 + 500 * std::sin(i * std::numbers::pi / 180), 500);
        const QPointF to = at + QPointF(i / 100 % 2 == 0 ? 31 : -31, 0);
        stage.frame([&] {
            stage.mouse(QEvent::MouseButtonPress, at, Qt::LeftButton, Qt::LeftButton);
            stage.mouse(QEvent::MouseMove, to, Qt::NoButton, Qt::LeftButton);
            stage.mouse(QEvent::MouseButtonRelease, to, Qt::LeftButton, Qt::NoButton);
        });
    }
}

void panSteps(Stage& stage, int frames, std::size_t count)
{
    const auto steps = stage.canvas.scene().trace->ofKind(profiler::ActivityKind::Step);
    const std::size_t middle = steps.size() / 2, last = std::min(steps.size() - 1, middle + count);
    pan(stage, frames, {steps[middle].begin, steps[last].end()});
}

/// With the arrows of all slices in view; if there are too many, the image says so.
void arrows(Stage& stage)
{
    app::timelineAction(stage.canvas, "toggleAllFlows")->trigger();
}

/// The pointer moves over an unchanged image.
void hover(Stage& stage, int frames)
{
    for (int i = 0; i < frames; ++i)
        stage.frame([&] { stage.mouse(QEvent::MouseMove, {300.0 + i * 7 % 1500, 200}, Qt::NoButton, Qt::NoButton); });
}

struct Gesture {
    const char* name;
    void (*play)(Stage&, int frames);
};
constexpr Gesture kGestures[] = {
    {"zoom, all to 1 µs", zoom},
    {"rest after zoom", rest},
    {"pan, half the trace",
     [](Stage& stage, int frames) {
         const auto all = stage.canvas.scene().trace->range();
         pan(stage, frames, {all.begin + all.duration() / 4, all.end - all.duration() / 4});
     }},
    {"pan, 20 steps", [](Stage& stage, int frames) { panSteps(stage, frames, 20); }},
    {"pan, 2 steps", [](Stage& stage, int frames) { panSteps(stage, frames, 2); }},
    {"hover", hover},
    {"zoom, all arrows",
     [](Stage& stage, int frames) {
         arrows(stage);
         zoom(stage, frames);
     }},
    {"pan, 1 step, all arrows",
     [](Stage& stage, int frames) {
         arrows(stage);
         panSteps(stage, frames, 1);
     }},
};

/// The cost of a gesture by the length of the view: medians of the thread's CPU time, ms.
using ByView = std::map<int, double>;

ByView byView(const Stage& stage)
{
    std::map<int, std::vector<double>> times;
    for (std::size_t i = 0; i < stage.cpu.size(); ++i)
        times[stage.views[i]].push_back(stage.cpu[i]);
    ByView medians;
    for (auto& [view, some] : times)
        medians[view] = Times(std::move(some)).at(0.5);
    return medians;
}

/// The median ratio of the frames' costs to those of `first` in views of the same or the nearest length.
double againstAlike(const Stage& stage, const ByView& first)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < stage.cpu.size(); ++i) {
        auto alike = first.lower_bound(stage.views[i]);
        if (alike == first.end() ||
            (alike != first.begin() && alike->first - stage.views[i] > stage.views[i] - std::prev(alike)->first))
            --alike;
        ratios.push_back(stage.cpu[i] / alike->second);
    }
    return Times(std::move(ratios)).at(0.5);
}

/// Each gesture without and with a second timeline, alternating, on one trace.
void compareWithSecond(const std::shared_ptr<const profiler::Trace>& trace, int frames, const QString& only)
{
    constexpr int kRounds = 3;
    for (const Gesture& gesture : kGestures) {
        if (!QString(gesture.name).contains(only))
            continue;
        std::map<Stage::Second, std::vector<double>> cpu;
        std::vector<double> painted;
        for (int round = 0; round < kRounds; ++round)
            for (const auto with : {Stage::Second::None, Stage::Second::Still, Stage::Second::Follows}) {
                Stage stage(trace, with);
                gesture.play(stage, frames / kRounds);
                cpu[with].insert(cpu[with].end(), stage.cpu.begin(), stage.cpu.end());
                painted.insert(painted.end(), stage.secondCpu.begin(), stage.secondCpu.end());
            }
        const Times alone(cpu[Stage::Second::None]), still(cpu[Stage::Second::Still]),
            both(cpu[Stage::Second::Follows]);
        std::printf("%-24s %10zu %9.2f %9.2f %9.2f %9.2f %8.2f %8.2f %9.2f\n", gesture.name, trace->sliceCount(),
                    alone.at(0.5), alone.at(0.99), both.at(0.5), both.at(0.99), still.at(0.5) / alone.at(0.5),
                    both.at(0.5) / alone.at(0.5), Times(std::move(painted)).at(0.5));
        std::fflush(stdout);
    }
}

constexpr std::array<double, 12> kBins = {0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 33, 1e9};

std::array<std::size_t, kBins.size()> histogram(const std::vector<double>& times)
{
    std::array<std::size_t, kBins.size()> counts{};
    for (const double time : times)
        ++counts[static_cast<std::size_t>(std::upper_bound(kBins.begin(), kBins.end() - 1, time) - kBins.begin())];
    return counts;
}

std::string binName(std::size_t bin)
{
    char text[32];
    if (bin + 1 == kBins.size())
        std::snprintf(text, sizeof text, "> %g", kBins[bin - 1]);
    else
        std::snprintf(text, sizeof text, "≤ %g", kBins[bin]);
    return text;
}

void printHistogram(const std::string& title, const std::vector<double>& times)
{
    std::printf("\n%s, %zu frames, ms of wall-clock time\n", title.c_str(), times.size());
    const auto counts = histogram(times);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double share = static_cast<double>(counts[i]) / static_cast<double>(times.size());
        const int bar = static_cast<int>(std::ceil(share * 50));
        std::printf("  %7s %6zu %5.1f %% %s\n", binName(i).c_str(), counts[i], share * 100,
                    std::string(static_cast<std::size_t>(bar), '#').c_str());
    }
}

using Frames = std::map<std::size_t, std::vector<double>>; ///< of all gestures, by slices

void drawHistogram(const Frames& frames, const QString& file)
{
    constexpr int kWidth = 1100, kRow = 190, kLeft = 60, kBottom = 34, kTop = 26;
    QImage image(kWidth, kRow * static_cast<int>(frames.size()), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    int top = 0;
    for (const auto& [slices, times] : frames) {
        const auto counts = histogram(times);
        const double width = static_cast<double>(kWidth - kLeft - 20) / static_cast<double>(kBins.size());
        painter.setPen(Qt::black);
        painter.drawText(kLeft, top + 18, QString("%L1 slices: frames by duration in ms").arg(slices));
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const double share = static_cast<double>(counts[i]) / static_cast<double>(times.size());
            const double height = share * (kRow - kBottom - kTop - 16);
            const QRectF bar(kLeft + static_cast<double>(i) * width + 2, top + kRow - kBottom - height, width - 4,
                             height);
            painter.fillRect(bar, kBins[i] <= 16 ? QColor(0x00, 0x9e, 0x73) : QColor(0xd5, 0x5e, 0x00));
            painter.drawText(QRectF(bar.left(), top + kRow - kBottom, bar.width(), 18), Qt::AlignCenter,
                             QString::fromStdString(binName(i)));
            if (counts[i] > 0)
                painter.drawText(QRectF(bar.left(), bar.top() - 16, bar.width(), 15), Qt::AlignCenter,
                                 QString("%1 %").arg(share * 100, 0, 'f', 1));
        }
        top += kRow;
    }
    if (!image.save(file))
        std::fprintf(stderr, "%s could not be written\n", qPrintable(file));
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({"sizes", "Slices of the traces.", "LIST", "10000,100000,1000000,10000000"});
    parser.addOption({"frames", "Frames a gesture.", "COUNT", "480"});
    parser.addOption({"only", "Gestures whose name contains this.", "TEXT"});
    parser.addOption({"png", "Draw the histograms, too.", "FILE"});
    parser.addOption({"second", "Compare with a second trace open."});
    parser.process(application);
    const int frames = std::max(1, parser.value("frames").toInt());

    if (parser.isSet("second")) {
        std::printf("%-24s %10s %9s %9s %9s %9s %8s %8s %9s\n", "gesture", "slices", "cpu p50", "cpu p99", "with p50",
                    "with p99", "× still", "× moving", "2nd p50");
        for (const QString& size : parser.value("sizes").split(','))
            compareWithSecond(test::trainingTraceOf(size.toULongLong()), frames, parser.value("only"));
        return 0;
    }
    std::printf("%-24s %10s %8s %8s %8s %8s %9s %9s %9s %9s %8s %8s\n", "gesture", "slices", "p50 ms", "p95 ms",
                "p99 ms", "max ms", "cpu p50", "cpu p95", "cpu p99", "cpu max", "× first", "× alike");
    std::map<std::string, double> first;
    std::map<std::string, ByView> firstByView;
    Frames all;
    for (const QString& size : parser.value("sizes").split(',')) {
        const auto trace = test::trainingTraceOf(size.toULongLong());
        for (const Gesture& gesture : kGestures) {
            if (!QString(gesture.name).contains(parser.value("only")))
                continue;
            Stage stage(trace);
            gesture.play(stage, frames);
            const Times wall(stage.wall), cpu(stage.cpu);
            const double base = first.try_emplace(gesture.name, cpu.at(0.5)).first->second;
            const ByView& alike = firstByView.try_emplace(gesture.name, byView(stage)).first->second;
            std::printf("%-24s %10zu %8.2f %8.2f %8.2f %8.2f %9.2f %9.2f %9.2f %9.2f %8.2f %8.2f\n", gesture.name,
                        trace->sliceCount(), wall.at(0.5), wall.at(0.95), wall.at(0.99), wall.sorted.back(),
                        cpu.at(0.5), cpu.at(0.95), cpu.at(0.99), cpu.sorted.back(), cpu.at(0.5) / base,
                        againstAlike(stage, alike));
            std::fflush(stdout);
            auto& together = all[trace->sliceCount()];
            together.insert(together.end(), wall.sorted.begin(), wall.sorted.end());
        }
    }
    for (const auto& [slices, times] : all)
        printHistogram(std::to_string(slices) + " slices", times);
    if (parser.isSet("png"))
        drawHistogram(all, parser.value("png"));
    return 0;
}
