// The cost of advice on a running training per second, in CPU time of the whole program, and the cost of analyzing all
// of it once: live_advice_bench [SLICES, default 100,000 1,000,000 5,000,000] [--per-step SLICES, default 400]
#include "advisor/rule.h"
#include "app/document/analyser.h"
#include "app/document/trace_summary.h"
#include "app/views/advisor/advisor.h"
#include "app/window/workbench.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace_builder.h"

#include <QApplication>
#include <QStandardPaths>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace profiler;
using namespace profiler::analysis;

namespace {

constexpr const char* kOps[] = {"aten::conv2d", "aten::convolution", "aten::batch_norm", "aten::relu",  "aten::linear",
                                "aten::addmm",  "aten::copy_",       "aten::softmax",    "aten::zeros", "aten::mul"};

double cpuMs()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// A training as our trainer records it on a CPU with operators: phases, operators nested two deep, two workers.
class Training {
public:
    explicit Training(int slicesPerStep) : m_opsInStep((slicesPerStep - 15) / 2)
    {
        Track thread, worker;
        thread.kind = TrackKind::MainThread;
        worker.kind = TrackKind::LoaderWorker;
        m_main = m_builder.addTrack(thread);
        m_workers[0] = m_builder.addTrack(worker);
        m_workers[1] = m_builder.addTrack(worker);
        for (const char* counter : {"loss", "memory", "speed"}) {
            Track track;
            track.kind = TrackKind::Counter;
            track.name = counter;
            m_counters.push_back(m_builder.addTrack(track));
        }
        m_builder.setFormat("stepscope");
        m_builder.captureStats().live = true;
        m_builder.setMetadata("host.cores", "8");
    }

    void step()
    {
        const std::int64_t begin = m_now;
        add(m_main, ActivityKind::Phase, std::string(phase::kDataWait), 400, m_steps);
        add(m_main, ActivityKind::Phase, std::string(phase::kCopy), 10, m_steps);
        add(m_main, ActivityKind::Phase, std::string(phase::kZeroGrad), 20, m_steps);
        pass(phase::kForward, 0, m_opsInStep / 3);
        pass(phase::kBackward, m_opsInStep / 3, m_opsInStep);
        add(m_main, ActivityKind::Phase, std::string(phase::kOptimizer), 150, m_steps);
        Slice mark;
        mark.kind = ActivityKind::Step;
        mark.name = m_builder.intern("step");
        mark.begin = traceTime(begin);
        mark.duration = Nanoseconds(m_now - begin);
        mark.args.value = m_steps;
        mark.depth = TraceBuilder::kUnknownDepth;
        m_builder.add(m_main, mark);
        const std::int64_t end = std::exchange(m_now, begin);
        for (const char* stage : {"read", "decode", "transform", "collate"})
            add(m_workers[m_steps % 2], ActivityKind::LoaderStage, stage, 300, m_steps);
        m_now = end;
        for (const TrackId counter : m_counters)
            m_builder.addSample(counter, {traceTime(end), 1.0 / static_cast<double>(m_steps + 1)});
        ++m_steps;
    }
    [[nodiscard]] std::shared_ptr<const Trace> snapshot() { return m_builder.snapshot(); }

private:
    void add(TrackId track, ActivityKind kind, const std::string& name, std::int64_t us, std::int64_t value)
    {
        Slice slice;
        slice.kind = kind;
        slice.name = m_builder.intern(name);
        slice.begin = traceTime(m_now);
        slice.duration = Nanoseconds(us * 1000);
        slice.args.value = value;
        slice.depth = TraceBuilder::kUnknownDepth;
        m_builder.add(track, slice);
        m_now += us * 1000;
    }
    /// Operators nested two deep; outer ones come last, because they end last.
    void pass(std::string_view phase, int first, int last)
    {
        const std::int64_t begin = m_now;
        for (int i = first; i < last; ++i) {
            const std::int64_t outer = m_now;
            m_now += 2000;
            add(m_main, ActivityKind::CpuOp, kOps[(i + 1) % 10], 20, 0);
            m_now = outer;
            add(m_main, ActivityKind::CpuOp, kOps[i % 10], 26, 0);
        }
        const std::int64_t end = std::exchange(m_now, begin);
        add(m_main, ActivityKind::Phase, std::string(phase), (end - begin) / 1000, m_steps);
        m_now = end;
    }

    TraceBuilder m_builder;
    TrackId m_main, m_workers[2];
    std::vector<TrackId> m_counters;
    std::int64_t m_now = 1000, m_steps = 0;
    int m_opsInStep;
};

/// Mean CPU time of several repetitions in ms.
struct Cost {
    const char* what;
    double ms = 0;
    template <class Work>
    auto operator()(Work&& work)
    {
        const double before = cpuMs();
        auto result = work();
        ms += cpuMs() - before;
        return result;
    }
};

void measure(std::size_t slices, int perStep, app::AdvisorPanel& panel)
{
    constexpr int kTimes = 30;
    Training training(perStep);
    for (std::size_t i = 0; i < slices / static_cast<std::size_t>(perStep); ++i) {
        training.step();
        if (i % 16 == 0)
            static_cast<void>(training.snapshot()); // as the app does ten times a second
    }
    Cost whole{"all of it"}, snapshot{"snapshot"}, window{"its end"}, facts{"facts"}, rules{"rules"}, cards{"cards"};
    app::Advised advised;
    advised.live = true;
    const auto all = training.snapshot();
    advised.rules = whole([&] {
        const Facts found = analyse(*all);
        static_cast<void>(app::summarise(all, found.steps));
        advised.steps = found.statistics.count;
        return advisor::advise(*all, found, nullptr);
    });
    std::size_t held = 0;
    for (int i = 0; i < kTimes; ++i) {
        for (int step = 0; step < 10; ++step)
            training.step();
        const auto trace = snapshot([&] { return training.snapshot(); });
        const auto end = window([&] {
            const auto last = lastSteps(*trace);
            advised.lastSteps = last ? last->count : 0;
            advised.newest = last ? last->newest : 0;
            return last ? TraceBuilder::endOf(*trace, last->begin) : trace;
        });
        held = end->sliceCount();
        const Facts found = facts([&] { return analyse(*end); });
        advised.rules = rules([&] {
            return advisor::mergeLiveAdvice(std::move(advised.rules), advisor::adviseOnSteps(*end, found, nullptr));
        });
        cards([&] {
            panel.show(&advised);
            for (int turn = 0; turn < 3; ++turn) // layout, then paint
                QApplication::processEvents();
            return 0;
        });
    }
    double sum = 0;
    std::printf("%9zu slices, %d per step: the last %lld steps have %zu slices\n", all->sliceCount(), perStep,
                static_cast<long long>(advised.lastSteps), held);
    for (const Cost& cost : {snapshot, window, facts, rules, cards}) {
        sum += cost.ms / kTimes;
        std::printf("    %-10s %8.2f ms\n", cost.what, cost.ms / kTimes);
    }
    const auto pause = app::Analyser::pauseAfter(std::chrono::nanoseconds(static_cast<std::int64_t>(whole.ms * 1e6)));
    std::printf("    each second %5.2f ms: %.2f %% of a core\n", sum, sum / 10);
    std::printf("    %-10s %8.1f ms, each %.0f s: %.2f %% of a core\n", whole.what, whole.ms,
                static_cast<double>(pause.count()) / 1e3, 100 * whole.ms / static_cast<double>(pause.count()));
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QStandardPaths::setTestModeEnabled(true);
    const QApplication application(argc, argv);
    app::Workbench bench;
    app::AdvisorPanel panel({&bench.notices, &bench.document, &bench.configuration, &bench.jobs, &bench.journal,
                             &bench.experiments, &bench.training},
                            nullptr);
    panel.resize(360, 900);
    static_cast<QWidget&>(panel).show();
    int perStep = 400;
    std::vector<std::size_t> sizes;
    for (int i = 1; i < argc; ++i)
        if (std::string(argv[i]) == "--per-step" && i + 1 < argc)
            perStep = std::max(30, std::stoi(argv[++i]));
        else
            sizes.push_back(std::stoul(argv[i]));
    for (const std::size_t size : sizes.empty() ? std::vector<std::size_t>{100'000, 1'000'000, 5'000'000} : sizes)
        measure(size, perStep, panel);
    return 0;
}
