#include "app/document/analyser.h"
#include "app/views/advisor/advisor.h"
#include "app/window/workbench.h"
#include "profiler/model/trace_builder.h"
#include "tests/app/app_support.h"

#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>
#include <vector>

using namespace profiler;
using app::Advised;
using app::Analyser;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

RawSlice slice(ActivityKind kind, std::uint32_t name, std::int64_t us, std::int64_t duration)
{
    RawSlice raw;
    raw.kind = kind;
    raw.name = name;
    raw.begin = us * 1000;
    raw.duration = duration * 1000;
    return raw;
}

/// Steps of 1 ms that wait for data for half of the time, with 200 operators each.
std::shared_ptr<const Trace> training(int steps, bool live)
{
    TraceBuilder builder;
    Track thread;
    thread.kind = TrackKind::MainThread;
    const TrackId main = builder.addTrack(thread);
    const std::uint32_t step = builder.intern("step").value, wait = builder.intern(phase::kDataWait).value,
                        op = builder.intern("aten::mm").value;
    std::vector<RawSlice> slices;
    for (int i = 0; i < steps; ++i) {
        SliceArgs index;
        index.value = i;
        slices.push_back(slice(ActivityKind::Step, step, 1000 * i, 1000));
        slices.back().args = builder.internArgs(index);
        slices.push_back(slice(ActivityKind::Phase, wait, 1000 * i, 500));
        for (int j = 0; j < 200; ++j) {
            slices.push_back(slice(ActivityKind::CpuOp, op, 1000 * i + 500 + 2 * j, 2));
            slices.back().link = -1;
        }
    }
    builder.addMany(main, std::move(slices), Depth::Inferred);
    builder.setFormat("stepscope");
    builder.captureStats().live = live;
    return builder.finish();
}

} // namespace

class AnalyserTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void thePauseDependsOnTheCost();
    void aLongLiveTraceIsAnalysedByItsLastSteps();
    void theCompleteTraceIsAnalysedAsAWhole();
    void thePanelShowsItsBasis();
};

void AnalyserTest::thePauseDependsOnTheCost()
{
    using namespace std::chrono_literals;
    QVERIFY(Analyser::pauseAfter(0ns) == 1s);
    QVERIFY(Analyser::pauseAfter(2ms) == 1s);
    QVERIFY(Analyser::pauseAfter(50ms) == 20s);
    QVERIFY(Analyser::pauseAfter(1s) == 400s);
}

void AnalyserTest::aLongLiveTraceIsAnalysedByItsLastSteps()
{
    Analyser analyser;
    std::shared_ptr<const Advised> advice;
    std::shared_ptr<const app::Analysed> whole;
    connect(&analyser, &Analyser::advised, this, [&](const auto& now) { advice = now; });
    connect(&analyser, &Analyser::analysed, this, [&](const auto& now) { whole = now; });
    analyser.request(training(1500, true), std::nullopt); // too expensive to be analysed every second
    QTRY_VERIFY_WITH_TIMEOUT(advice, 20000);
    QVERIFY(whole);
    QVERIFY(advice->live);
    QCOMPARE(advice->steps, 1500);
    QCOMPARE(advice->newest, 1499);
    QVERIFY2(advice->lastSteps >= 20 && advice->lastSteps <= 120, qPrintable(QString::number(advice->lastSteps)));
    const std::size_t rules = advisor::allRules().size();
    QCOMPARE(advice->rules.size(), rules);
    const auto waits = std::find_if(advice->rules.begin(), advice->rules.end(),
                                    [](const advisor::RuleAdvice& rule) { return rule.id == "loader.workers"; });
    QVERIFY(waits != advice->rules.end());
    QVERIFY2(waits->advice.state == advisor::State::Fires, waits->advice.reason.text.c_str());

    analyser.request(training(1600, true), std::nullopt);
    QTRY_COMPARE_WITH_TIMEOUT(advice->newest, 1599, 20000);
    QCOMPARE(advice->rules.size(), rules);
    QVERIFY(advice->live);
}

void AnalyserTest::theCompleteTraceIsAnalysedAsAWhole()
{
    Analyser analyser;
    std::shared_ptr<const Advised> advice;
    std::shared_ptr<const app::Analysed> whole;
    connect(&analyser, &Analyser::advised, this, [&](const auto& now) { advice = now; });
    connect(&analyser, &Analyser::analysed, this, [&](const auto& now) { whole = now; });
    analyser.request(training(1500, true), std::nullopt);
    const auto end = training(1510, false);
    analyser.request(end, std::nullopt);
    QTRY_VERIFY_WITH_TIMEOUT(whole && whole->trace == end, 20000);
    QVERIFY(!advice->live);
    QCOMPARE(advice->lastSteps, 0);
    QCOMPARE(advice->steps, 1510);
    QVERIFY(app::basisText(*advice).isEmpty());

    analyser.request(training(30, false), std::nullopt); // another trace does not inherit the verdicts of this one
    QTRY_COMPARE_WITH_TIMEOUT(advice->steps, 30, 20000);
}

void AnalyserTest::thePanelShowsItsBasis()
{
    Advised advice;
    advice.live = true;
    QVERIFY(app::basisText(advice).isEmpty());
    advice.steps = 40;
    QCOMPARE(app::basisText(advice), QString("Based on the run so far: 40 steps."));
    advice.lastSteps = 120;
    advice.newest = 980;
    advice.steps = 800;
    QCOMPARE(app::basisText(advice), QString("Based on the last 120 steps, up to step 980. Whole-run findings cover "
                                             "the first 800 steps; they are updated when the run ends."));
}

QTEST_MAIN(AnalyserTest)
#include "analyser_test.moc"
