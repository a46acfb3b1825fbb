#include "app/document/remote_advice.h"
#include "app/document/remote_job.h"
#include "app/services/remote_places.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_groups.h"
#include "app/views/job/job_heat_map.h"
#include "app/window/remote_dialog.h"
#include "profiler/formats/format.h"
#include "profiler/job/job_digests.h"
#include "profiler/job/rank_merge.h"
#include "profiler/model/trace_builder.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/job_traces.h"

#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <utility>

// A trace in another place: a command that runs another one with its own home folder.

using app::RemotePlace;
using app::RemoteTraceService;
using State = RemoteTraceService::State;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;
const QString kSample = QStringLiteral(SAMPLES "/launch_bound.sstrace");

/// Another place with a home folder, and a link that can be cut.
class Place {
public:
    Place()
    {
        QFile link(m_folder.filePath("link"));
        // Each connection notes the process that serves the trace.
        if (link.open(QIODevice::WriteOnly))
            link.write("#!/bin/sh\nfor last; do :; done\ncase $last in\n*' serve '*)\n    [ -e \"" +
                       m_folder.filePath("cut").toUtf8() +
                       "\" ] && { echo 'no route' >&2; exit 255; }\n    echo $$ > \"" +
                       m_folder.filePath("serving").toUtf8() + "\" ;;\nesac\nHOME=\"" + m_folder.path().toUtf8() +
                       "\" XDG_CACHE_HOME= exec \"$@\"\n");
        link.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    [[nodiscard]] RemotePlace place(const QString& path) const { return {true, m_folder.filePath("link"), path}; }
    /// Ends the connection, and allows no other one until restore().
    void cut() const
    {
        QFile(m_folder.filePath("cut")).open(QIODevice::WriteOnly);
        QFile serving(m_folder.filePath("serving"));
        QVERIFY(serving.open(QIODevice::ReadOnly));
        QCOMPARE(::kill(serving.readAll().trimmed().toInt(), SIGKILL), 0);
    }
    void restore() const { QFile::remove(m_folder.filePath("cut")); }
    [[nodiscard]] QString file(const QString& name) const { return m_folder.filePath(name); }

private:
    QTemporaryDir m_folder;
};

void openHere(app_test::App& shown, const std::filesystem::path& file)
{
    app::TraceDocument& document = shown.bench.document;
    document.openTrace(file);
    QTRY_VERIFY_WITH_TIMEOUT(document.path() == file && !document.isLoading() && document.analysed(), 30'000);
}

QString stripText(const app_test::App& shown)
{
    return shown.window.findChild<QLabel*>("remoteText")->text();
}

std::vector<std::string> idsIn(const std::vector<advisor::RuleAdvice>& rules, advisor::State state)
{
    std::vector<std::string> ids;
    for (const advisor::RuleAdvice& rule : rules)
        if (rule.advice.state == state)
            ids.push_back(rule.id);
    return ids;
}

} // namespace

class RemoteTraceTest : public QObject {
    Q_OBJECT
public:
    static void initMain()
    {
        folders = std::make_unique<app_test::OwnFolders>();
        qputenv("STEPSCOPE_PROGRAMS", PROGRAMS);
    }

private slots:
    void theTraceIsShownAndItsFindingsComeFromThere();
    void analysedHereItIsTheSameAsAFile();
    void aSmallTraceIsAnalysedHereAtOnce();
    void onlyWhatIsLookedAtIsTransferred();
    void anotherFormatIsConvertedThere();
    void aLostConnectionCanBeRestored();
    void whatCannotBeOpenedIsReported();
    void aFolderOfRanksIsAJob();
    void ranksAreShownTogether();
    void ranksThatCannotBeShownTogetherAreReported();
    void oddFileNamesOfRanksAreOpened();
    void aCancelledLocalJobLeavesTheRemoteOneUsable();
    void aJobThatCannotBeReadIsReported();
    void figuresOfAJobAreNotTrusted();
    void theDialogCompletesHostsAndRemembersPlaces();
    void hostsAreReadFromTheConfigurationOfSsh();
    void adviceOfAnotherMachineIsNotTrusted();
};

void RemoteTraceTest::theTraceIsShownAndItsFindingsComeFromThere()
{
    const Place place;
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.setMostAutomatic(0);
    remote.open(place.place(kSample));
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
    const auto file = profiler::formats::openTrace(kSample.toStdString());
    const auto trace = shown.bench.document.trace();
    QCOMPARE(trace->sliceCount(), (*file)->sliceCount());
    QCOMPARE(shown.bench.document.title(), QStringLiteral("launch_bound.sstrace"));
    QVERIFY(shown.window.findChild<QWidget*>("remoteStrip")->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(shown.bench.document.advice(), 60'000);
    QVERIFY(!shown.bench.document.analysed());
    const auto own = advisor::advise(**file, nullptr);
    for (const advisor::State state : {advisor::State::Fires, advisor::State::Silent, advisor::State::CannotTell})
        QCOMPARE(idsIn(shown.bench.document.advice()->rules, state), idsIn(own, state));
    QVERIFY(remote.fetched() > 0);
    QVERIFY(remote.fetched() <= remote.size());
    QCOMPARE(remote.size(), static_cast<quint64>(QFile(kSample).size()));
    QVERIFY(stripText(shown).contains(" of "));
    // Another trace ends the connection.
    shown.bench.document.openTrace(kSample.toStdString());
    QTRY_COMPARE(remote.state(), State::None);
    QVERIFY(!shown.window.findChild<QWidget*>("remoteStrip")->isVisible());
}

void RemoteTraceTest::analysedHereItIsTheSameAsAFile()
{
    const Place place;
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.setMostAutomatic(0);
    remote.open(place.place(kSample));
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
    shown.window.findChild<QPushButton*>("remoteAnalyse")->click();
    QTRY_VERIFY_WITH_TIMEOUT(shown.bench.document.analysed(), 60'000);
    const auto file = profiler::formats::openTrace(kSample.toStdString());
    const auto facts = profiler::analysis::analyse(**file);
    QCOMPARE(shown.bench.document.analysed()->facts.steps.size(), facts.steps.size());
    QCOMPARE(shown.bench.document.trace()->unread().slices, 0U);
    QVERIFY(remote.isAnalysedHere());
}

void RemoteTraceTest::aSmallTraceIsAnalysedHereAtOnce()
{
    const Place place;
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    const auto size = static_cast<quint64>(QFile(kSample).size());
    for (const bool isSmall : {true, false}) {
        remote.setMostAutomatic(isSmall ? size : size - 1);
        openHere(shown, SAMPLES "/loader_stall.sstrace");
        QTRY_COMPARE(remote.state(), State::None);
        remote.open(place.place(kSample));
        QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
        QCOMPARE(remote.isAutomatic(), isSmall);
        QCOMPARE(remote.isAnalysedHere(), isSmall);
        // The findings of a large trace come from there, perhaps already.
        QVERIFY(isSmall ? !remote.isAdvising() : remote.isAdvising() || shown.bench.document.advice());
        QCOMPARE(shown.window.findChild<QPushButton*>("remoteAnalyse")->isVisible(), !isSmall);
        QCOMPARE(shown.bench.document.whyNotAnalysed().isEmpty(), isSmall);
        QTRY_VERIFY_WITH_TIMEOUT(shown.bench.document.advice(), 60'000);
        QCOMPARE(shown.bench.document.analysed() != nullptr, isSmall);
        QCOMPARE(shown.bench.document.trace()->unread().slices, 0U);
    }
}

void RemoteTraceTest::onlyWhatIsLookedAtIsTransferred()
{
    // Random durations, so that the file is large.
    constexpr int kSlices = 600'000;
    std::mt19937_64 random(1);
    profiler::TraceBuilder builder;
    profiler::Track thread;
    thread.name = "thread";
    const auto track = builder.addTrack(thread);
    std::int64_t time = 0;
    for (int i = 0; i < kSlices; ++i) {
        profiler::Slice slice;
        slice.kind = profiler::ActivityKind::CpuOp;
        slice.name = builder.intern("op" + std::to_string(random() % 100));
        slice.begin = profiler::TraceTime(std::chrono::nanoseconds(time));
        slice.duration = std::chrono::nanoseconds(1 + random() % 1'000'000);
        time += slice.duration.count() + static_cast<std::int64_t>(random() % 1'000'000);
        builder.add(track, slice);
    }
    const Place place;
    const QString file = place.file("large.sstrace");
    QVERIFY(profiler::formats::saveTrace(*builder.finish(), file.toStdString()));
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.setMostAutomatic(0);
    remote.open(place.place(file));
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
    QTRY_VERIFY_WITH_TIMEOUT(!remote.isAdvising(), 60'000);
    auto* canvas = shown.window.findChild<app::TimelineCanvas*>();
    QTest::qWait(500);
    const quint64 overview = remote.fetched();
    qInfo("%llu of %llu bytes for the overview", overview, remote.size());
    QVERIFY(overview < remote.size() / 2);
    // A few slices in the middle: their block comes, and is drawn.
    const auto trace = shown.bench.document.trace();
    const auto middle = trace->range().begin + trace->range().duration() / 2;
    canvas->showRange({middle, middle + std::chrono::milliseconds(20)});
    QTRY_VERIFY_WITH_TIMEOUT(trace->at(track, 0, middle + std::chrono::milliseconds(10)) ||
                                 trace->beginIn(track, {middle, middle + std::chrono::milliseconds(20)}, 10) > 0,
                             30'000);
    QTRY_VERIFY(remote.fetched() > overview); // counted ten times per second
    QVERIFY(remote.fetched() < remote.size() * 3 / 4);
    QTRY_COMPARE(trace->unread().slices, 0U); // nothing that is on screen is missing
    qInfo("%llu bytes with a block in the middle", remote.fetched());
}

void RemoteTraceTest::anotherFormatIsConvertedThere()
{
    const Place place;
    const QString json = place.file("t.json");
    const auto file = profiler::formats::openTrace(kSample.toStdString());
    QVERIFY(profiler::formats::saveTrace(**file, json.toStdString()));
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.open(place.place(json));
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
    QVERIFY(remote.size() < static_cast<quint64>(QFile(json).size()));
    const auto again = profiler::formats::openTrace(json.toStdString());
    QCOMPARE(shown.bench.document.trace()->sliceCount(), (*again)->sliceCount());
    QCOMPARE(QDir(place.file(".cache/stepscope/remote/traces")).entryList(QDir::Files).size(), 1);
}

void RemoteTraceTest::aLostConnectionCanBeRestored()
{
    const Place place;
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.setMostAutomatic(0);
    remote.open(place.place(kSample));
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 60'000);
    QTRY_VERIFY_WITH_TIMEOUT(!remote.isAdvising(), 60'000);
    place.cut();
    QTRY_COMPARE(remote.state(), State::Lost);
    auto* reconnect = shown.window.findChild<QPushButton*>("remoteReconnect");
    QVERIFY(reconnect->isVisible());
    QVERIFY(!remote.whyLost().isEmpty());
    // The link is still cut.
    reconnect->click();
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Lost, 30'000);
    QVERIFY(remote.whyLost().contains("no route"));
    place.restore();
    reconnect->click();
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 30'000);
    QVERIFY(!reconnect->isVisible());
    remote.analyseHere();
    QTRY_VERIFY_WITH_TIMEOUT(shown.bench.document.analysed(), 60'000);
    QCOMPARE(shown.bench.document.trace()->unread().slices, 0U);
}

void RemoteTraceTest::whatCannotBeOpenedIsReported()
{
    const Place place;
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    const QSignalSpy noticed(&shown.bench.notices, &app::Notices::noticed);
    const auto lastNotice = [&] { return noticed.isEmpty() ? QString() : noticed.last().first().toString(); };
    remote.open(place.place("/no/such/trace.sstrace"));
    QTRY_VERIFY_WITH_TIMEOUT(!remote.isOpening(), 60'000);
    QVERIFY(lastNotice().contains("/no/such/trace.sstrace"));
    remote.open({false, "-oProxyCommand=true", "/x"});
    QVERIFY(!remote.isOpening());
    remote.open({true, "/no/such/command", "/x"});
    QTRY_VERIFY(!remote.isOpening());
    QVERIFY(lastNotice().contains("/no/such/command"));
    QFile hangs(place.file("hangs"));
    QVERIFY(hangs.open(QIODevice::WriteOnly));
    hangs.write("#!/bin/sh\nexec sleep 60\n");
    hangs.close();
    hangs.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    remote.open({true, hangs.fileName(), kSample});
    QTest::qWait(200);
    QVERIFY(remote.isOpening());
    shown.window.findChild<QPushButton*>("cancelLoading")->click();
    QVERIFY(!remote.isOpening());
    QCOMPARE(remote.state(), State::None);
}

void RemoteTraceTest::aFolderOfRanksIsAJob()
{
    const Place place;
    const QString folder = place.file("traces");
    test_support::writeJobTraces(folder.toStdString(), {.ranks = 4,
                                                        .ranksPerHost = 2,
                                                        .steps = 8,
                                                        .layers = 12,
                                                        .fault = test_support::Fault::SlowLoader,
                                                        .faultyRanks = {2}});
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    app::JobDocument& job = shown.bench.job;
    app::TraceDocument& document = shown.bench.document;
    for (const QString& path : {folder, folder + "/*.json"}) {
        openHere(shown, kSample.toStdString());
        QTRY_VERIFY(!job.isOpen());
        remote.open(place.place(path));
        QTRY_VERIFY_WITH_TIMEOUT(job.isOpen(), 60'000);
        QVERIFY(job.isRemote());
        // The figures are those of the traces, which did not come here.
        auto files = profiler::job::findJobFiles(std::array{std::filesystem::path(folder.toStdString())});
        const auto near = profiler::job::openJob(*std::move(files));
        const profiler::job::Job& far = *job.job();
        QCOMPARE(far.ranks.size(), 4U);
        QCOMPARE(far.analysis.stepUs, near->analysis.stepUs);
        QCOMPARE(far.analysis.stragglers.size(), 1U);
        QCOMPARE(far.analysis.stragglers.front().reason, near->analysis.stragglers.front().reason);
        QCOMPARE(far.ranks[3].host, std::string("node1"));
        auto* map = shown.window.findChild<app::JobHeatMap*>();
        QTRY_VERIFY(map && map->isVisible());
        // The rank that delays the others is shown, with the step in which it does so most.
        QCOMPARE(job.rank(), std::optional<std::size_t>(2));
        const auto isShown = [&](std::size_t rank) {
            return document.path() == far.ranks[rank].file && remote.state() == State::Connected;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isShown(2), 60'000);
        QVERIFY(!document.trace()->tracks().empty());
        job.select(0, 3);
        job.openSelected();
        QTRY_VERIFY_WITH_TIMEOUT(isShown(0), 60'000);
        QVERIFY(job.isOpen());
        const auto& steps = far.ranks[0].steps;
        const auto step = std::find_if(steps.begin(), steps.end(),
                                       [&](const auto& one) { return one.index == far.analysis.steps[3]; });
        QVERIFY(step != steps.end());
        QCOMPARE(document.selection()->range(), std::optional(step->range));
        QCOMPARE(app::recentPlaces().first().path, path);
    }
    document.openTrace(kSample.toStdString());
    QTRY_VERIFY(!job.isOpen());
    QTRY_COMPARE(remote.state(), State::None);
}

void RemoteTraceTest::ranksAreShownTogether()
{
    const Place place;
    const QString folder = place.file("traces");
    test_support::writeJobTraces(folder.toStdString(), {.ranks = 6,
                                                        .ranksPerHost = 2,
                                                        .steps = 8,
                                                        .layers = 12,
                                                        .fault = test_support::Fault::SlowLoader,
                                                        .faultyRanks = {3},
                                                        .clockOffsetNs = {0, 7'000'000, -3'000'000}});
    app_test::App shown;
    RemoteTraceService& remote = shown.bench.remote;
    remote.setMostAutomatic(0);
    app::JobDocument& job = shown.bench.job;
    app::TraceDocument& document = shown.bench.document;
    remote.open(place.place(folder));
    QTRY_VERIFY_WITH_TIMEOUT(job.isOpen() && remote.state() == State::Connected, 60'000);
    auto* timeline = shown.window.findChild<QComboBox*>("jobTimeline");
    const auto choose = [&](app::JobTimeline which) {
        timeline->setCurrentIndex(timeline->findData(static_cast<int>(which)));
        emit timeline->activated(timeline->currentIndex());
    };
    choose(app::JobTimeline::ByLateness);
    QTRY_COMPARE_WITH_TIMEOUT(job.timeline(), app::JobTimeline::ByLateness, 60'000);
    QCOMPARE(document.title(), QString("6 ranks"));
    QVERIFY(job.isOpen());
    QVERIFY(!document.analysed());
    // The same trace as of a job in a folder of this machine: its bands, its clock and the flows of its collectives.
    auto files = profiler::job::findJobFiles(std::array{std::filesystem::path(folder.toStdString())});
    const auto near = profiler::job::openJob(*std::move(files));
    std::vector<std::size_t> latest{0, 1, 2, 3, 4, 5};
    std::stable_sort(latest.begin(), latest.end(), [&](std::size_t a, std::size_t b) {
        return near->analysis.ranks[a].lateUs > near->analysis.ranks[b].lateUs;
    });
    const auto expected = *profiler::job::mergeRanks(*near, latest);
    const auto trace = document.trace();
    QCOMPARE(trace->sliceCount(), expected->sliceCount());
    QVERIFY(trace->range().begin == expected->range().begin && trace->range().end == expected->range().end);
    QVERIFY(!expected->explicitFlows().empty());
    QCOMPARE(trace->explicitFlows().size(), expected->explicitFlows().size());
    const auto rows = app::rowTree(*trace), expectedRows = app::rowTree(*expected);
    QCOMPARE(rows.size(), std::size_t(6));
    QVERIFY2(rows.front().name.startsWith("rank 3 on node1"), qPrintable(rows.front().name));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        QCOMPARE(rows[i].name, expectedRows[i].name);
        QVERIFY(rows[i].startsFolded);
    }
    // The selected step is shown in the band of its rank.
    const auto stepOf = [&](std::size_t rank) {
        const auto& digest = near->ranks[rank];
        const auto& clock = near->analysis.clock.ranks[rank];
        const auto step = std::find_if(digest.steps.begin(), digest.steps.end(),
                                       [&](const auto& one) { return one.index == near->analysis.steps[*job.step()]; });
        return profiler::TimeRange{clock(step->range.begin), clock(step->range.end)};
    };
    const auto selected = [&] {
        const auto slice = document.selection()->slice();
        return slice ? std::optional(trace->slice(*slice).range()) : document.selection()->range();
    };
    QCOMPARE(job.rank(), std::optional<std::size_t>(3));
    QVERIFY(selected() == stepOf(3));
    // Another rank is shown in the same trace.
    const QSignalSpy replaced(&document, &app::TraceDocument::traceReplaced);
    job.select(1, 4);
    job.openSelected();
    QVERIFY(selected() == stepOf(1));
    QCOMPARE(replaced.count(), 0);
    // Findings come from there, and their evidence is in the band that they are about.
    QTRY_VERIFY_WITH_TIMEOUT(document.advice(), 60'000);
    const auto own = advisor::advise(*expected, nullptr);
    std::size_t places = 0;
    for (const advisor::RuleAdvice& rule : document.advice()->rules)
        for (const advisor::Evidence& there : rule.advice.evidence) {
            const auto same = std::ranges::find(own, rule.id, &advisor::RuleAdvice::id);
            QVERIFY(same != own.end());
            QVERIFY2(std::ranges::any_of(same->advice.evidence,
                                         [&](const advisor::Evidence& one) {
                                             return trace->track(there.track).processName ==
                                                        expected->track(one.track).processName &&
                                                    std::chrono::abs(there.range.begin - one.range.begin) <
                                                        std::chrono::microseconds(1);
                                         }),
                     rule.id.c_str());
            ++places;
        }
    QVERIFY(places > 0);
    // The connection can be restored.
    place.cut();
    QTRY_COMPARE(remote.state(), State::Lost);
    QVERIFY(job.isOpen());
    place.restore();
    shown.window.findChild<QPushButton*>("remoteReconnect")->click();
    QTRY_COMPARE_WITH_TIMEOUT(remote.state(), State::Connected, 30'000);
    QCOMPARE(job.timeline(), app::JobTimeline::ByLateness);
    // Cancel keeps what is on screen.
    choose(app::JobTimeline::ByHost);
    QVERIFY(remote.isOpening());
    shown.window.findChild<QPushButton*>("cancelLoading")->click();
    QVERIFY(!remote.isOpening());
    QCOMPARE(timeline->currentData().toInt(), static_cast<int>(app::JobTimeline::ByLateness));
    QCOMPARE(document.trace(), trace);
    // The newest choice counts, and one rank can be shown again.
    choose(app::JobTimeline::ByHost);
    choose(app::JobTimeline::ByRank);
    QTRY_COMPARE_WITH_TIMEOUT(job.timeline(), app::JobTimeline::ByRank, 60'000);
    QVERIFY(app::rowTree(*document.trace()).front().name.startsWith("rank 0 on node0"));
    choose(app::JobTimeline::OneRank);
    QTRY_COMPARE_WITH_TIMEOUT(document.path(), std::filesystem::path(job.job()->ranks[1].file), 60'000);
    QVERIFY(job.isOpen());
    // A trace that is opened in the meantime supersedes the ranks.
    choose(app::JobTimeline::ByHost);
    QVERIFY(remote.isOpening());
    openHere(shown, kSample.toStdString());
    QVERIFY(!remote.isOpening());
    QVERIFY(!job.isOpen());
}

void RemoteTraceTest::ranksThatCannotBeShownTogetherAreReported()
{
    const Place place;
    const QString folder = place.file("traces");
    test_support::writeJobTraces(folder.toStdString(), {.ranks = 3, .steps = 3, .layers = 4});
    app_test::App shown;
    app::JobDocument& job = shown.bench.job;
    shown.bench.remote.open(place.place(folder));
    QTRY_VERIFY_WITH_TIMEOUT(job.isOpen() && shown.bench.remote.state() == State::Connected, 60'000);
    QVERIFY(QFile::remove(folder + "/rank2.json"));
    const QSignalSpy noticed(&shown.bench.notices, &app::Notices::noticed);
    job.setTimeline(app::JobTimeline::ByRank);
    QTRY_COMPARE_WITH_TIMEOUT(noticed.size(), 1, 60'000);
    QVERIFY2(noticed.last().first().toString().contains("rank 2"), qPrintable(noticed.last().first().toString()));
    QVERIFY(!shown.bench.remote.isOpening());
    QVERIFY(job.isOpen());
    QCOMPARE(job.timeline(), app::JobTimeline::OneRank);
}

void RemoteTraceTest::oddFileNamesOfRanksAreOpened()
{
    const Place place;
    const std::filesystem::path folder = place.file("traces").toStdString();
    // The names look the same when they are displayed.
    const auto files = test_support::writeJobTraces(folder, {.ranks = 3, .steps = 3, .layers = 4});
    std::filesystem::rename(files[0], folder / "a\x1b[2Jb.json");
    std::filesystem::rename(files[1], folder / "a\n[2Jb.json");
    std::filesystem::rename(files[2], folder / "a\xff[2Jb'; exit.json");
    app_test::App shown;
    app::JobDocument& job = shown.bench.job;
    shown.bench.remote.open(place.place(place.file("traces")));
    QTRY_VERIFY_WITH_TIMEOUT(job.isOpen() && shown.bench.remote.state() == State::Connected, 60'000);
    std::set<std::string> names;
    for (std::size_t rank = 0; rank < 3; ++rank) {
        QSignalSpy opened(&shown.bench.document, &app::TraceDocument::traceOpened);
        const bool isShown = job.rank() == rank;
        job.select(rank);
        job.openSelected();
        QTRY_VERIFY_WITH_TIMEOUT(isShown || opened.count() == 1, 60'000);
        QVERIFY(job.isOpen());
        const auto info = shown.bench.document.trace()->metadata().find("rank");
        QVERIFY(info != shown.bench.document.trace()->metadata().end());
        QCOMPARE(info->second, std::to_string(rank));
        const std::string name = shown.bench.document.path().string();
        QVERIFY(name.find('\x1b') == std::string::npos && name.find('\n') == std::string::npos);
        names.insert(name);
    }
    QCOMPARE(names.size(), 3U);
}

void RemoteTraceTest::aCancelledLocalJobLeavesTheRemoteOneUsable()
{
    const Place place;
    const QString far = place.file("far"), near = place.file("near");
    test_support::writeJobTraces(far.toStdString(), {.ranks = 2, .steps = 3, .layers = 4});
    test_support::writeJobTraces(near.toStdString(), {.ranks = 48, .steps = 8, .layers = 12});
    app_test::App shown;
    app::JobDocument& job = shown.bench.job;
    shown.bench.remote.open(place.place(far));
    QTRY_VERIFY_WITH_TIMEOUT(job.isOpen() && shown.bench.remote.state() == State::Connected, 60'000);
    const std::size_t other = job.rank() == 0 ? 1 : 0;
    QSettings().setValue("loading/previewAfterMs", 0);
    bool isFirst = true;
    const auto connection = connect(&job, &app::JobDocument::changed, this, [&] {
        if (std::exchange(isFirst, false)) {
            QVERIFY(job.isLoading()); // a part of the local job is shown
            job.cancelLoading();
        }
    });
    job.open({std::filesystem::path(near.toStdString())});
    QTRY_VERIFY_WITH_TIMEOUT(!isFirst && !job.isLoading(), 60'000);
    disconnect(connection);
    QSettings().remove("loading/previewAfterMs");
    QVERIFY(job.isRemote());
    job.select(other);
    job.openSelected();
    QTRY_COMPARE_WITH_TIMEOUT(shown.bench.document.path(), std::filesystem::path(job.job()->ranks[other].file), 60'000);
}

void RemoteTraceTest::aJobThatCannotBeReadIsReported()
{
    const Place place;
    QVERIFY(QDir().mkpath(place.file("empty")));
    app_test::App shown;
    const QSignalSpy noticed(&shown.bench.notices, &app::Notices::noticed);
    shown.bench.remote.open(place.place(place.file("empty")));
    QTRY_VERIFY_WITH_TIMEOUT(!shown.bench.remote.isOpening(), 60'000);
    QVERIFY(!shown.bench.job.isOpen());
    QCOMPARE(noticed.size(), 1);
    QVERIFY(noticed.last().first().toString().contains(place.file("empty")));
}

void RemoteTraceTest::figuresOfAJobAreNotTrusted()
{
    QCOMPARE(app::remoteJob("no figures", "gpu1").error().what.id, std::string("job.digests"));
    const QTemporaryDir folder;
    test_support::writeJobTraces(folder.path().toStdString(), {.ranks = 2, .steps = 3, .layers = 4});
    auto files = profiler::job::findJobFiles(std::array{std::filesystem::path(folder.path().toStdString())});
    auto job = profiler::job::openJob(*std::move(files)).value();
    job.ranks[0].host = "a\x1b[2Jb";
    job.ranks[0].work.front().name = std::string(100'000, 'x');
    job.notes.push_back({"id", {{"parameter", "value"}}, "line\x9b"});
    const std::filesystem::path odd = "/x/a\x1b.json", alike = "/x/a\x9b.json";
    job.files.files = {odd, alike};
    const auto read = app::remoteJob(profiler::job::encodeJob(job), "gpu1");
    QVERIFY(read);
    QCOMPARE(read->job.ranks[0].host, std::string("a?[2Jb"));
    QCOMPARE(read->job.ranks[0].work.front().name.size(), 4000U);
    QCOMPARE(read->job.notes.back().text, std::string("line?"));
    QVERIFY(read->job.notes.back().parameters.empty());
    QCOMPARE(read->job.ranks[0].file, std::string("gpu1:/x/a?.json"));
    QCOMPARE(read->job.ranks[1].file, std::string("gpu1:/x/a?.json (2)"));
    QVERIFY(read->paths == std::vector<std::string>({odd.string(), alike.string()}));
}

void RemoteTraceTest::theDialogCompletesHostsAndRemembersPlaces()
{
    const RemotePlace place{true, "docker exec -i trainer", "/data/a.sstrace"};
    app::addRecentPlace({false, "gpu1", "/data/b.sstrace"});
    app::addRecentPlace(place);
    app::addRecentPlace(place);
    QCOMPARE(app::recentPlaces().first(), place);
    QCOMPARE(app::recentPlaces().count(place), 1);
    app_test::App shown;
    shown.window.findChild<QAction*>("openRemote")->trigger();
    auto* dialog = shown.window.findChild<app::RemoteDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    auto* open = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
    QVERIFY(!open->isEnabled());
    auto* recent = dialog->findChild<QComboBox*>("remoteRecent");
    recent->setCurrentIndex(1);
    emit recent->activated(1);
    QCOMPARE(dialog->findChild<QComboBox*>("remoteHost")->currentText(), place.host);
    QVERIFY(open->isEnabled());
    QList<RemotePlace> chosen;
    QObject::disconnect(dialog, &app::RemoteDialog::chosen, nullptr, nullptr);
    QObject::connect(dialog, &app::RemoteDialog::chosen, dialog, [&](const RemotePlace& one) { chosen << one; });
    open->click();
    QCOMPARE(chosen, QList<RemotePlace>{place});
}

void RemoteTraceTest::hostsAreReadFromTheConfigurationOfSsh()
{
    const QTemporaryDir folder;
    const auto write = [&](const QString& name, const QByteArray& text) {
        QDir(folder.path()).mkpath(QFileInfo(name).path());
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    const auto hosts = [&] { return app::hostsIn(folder.filePath("config"), folder.path()); };
    QCOMPARE(hosts(), QStringList());
    write("config", "Host gpu1 gpu2 *.lab !x # comment\n  HostName 10.0.0.1\nhost=\"login\"\nMatch host z\n"
                    "HostKeyAlgorithms a\nHost -oProxyCommand=x\nHost gpu1\n");
    QCOMPARE(hosts(), QStringList({"gpu1", "gpu2", "login"}));
    // Included files: relative, absolute, quoted, patterns in folders, several in a line; and in the order of the
    // lines.
    write("config", "Include conf.d/*.conf \"with blank/a b\"\nHost last\nInclude " + folder.filePath("abs").toUtf8() +
                        " no/such/file # conf.d/none\ninclude=lab*/hosts\n");
    write("conf.d/2.conf", "Host two\n");
    write("conf.d/1.conf", "Host one\n");
    write("conf.d/none", "Host none\n");
    write("conf.d/.3.conf", "Host hidden\n");
    write("with blank/a b", "Host blank\n");
    write("abs", "Host absolute\nInclude config\n"); // a circle
    write("lab1/hosts", "Host lab\n");
    QCOMPARE(hosts(), QStringList({"one", "two", "blank", "last", "absolute", "lab"}));
    // OpenSSH follows 16 levels.
    write("config", "Include level1\n");
    for (int level = 1; level <= 17; ++level)
        write("level" + QString::number(level),
              "Host h" + QByteArray::number(level) + "\nInclude level" + QByteArray::number(level + 1) + "\n");
    QCOMPARE(hosts().size(), 16);
    QCOMPARE(hosts().last(), QString("h16"));
}

void RemoteTraceTest::adviceOfAnotherMachineIsNotTrusted()
{
    const auto file = profiler::formats::openTrace(kSample.toStdString());
    const profiler::Trace& trace = **file;
    for (const char* text : {"", "[]", "{", R"({"advice": 3})", R"({"advice": {}})"})
        QVERIFY(!app::remoteAdvice(text, trace));
    const auto rules = app::remoteAdvice(
        R"({"advice": [
            {"id": "no.such.rule", "state": "fires"},
            {"id": "loader.workers", "state": "fires", "title": "a\u001b[2Jb", "messages": {"reason": 4},
             "toggle": {"key": "no.such.knob", "from": "1", "to": "2"},
             "saving": {"unit": "us_per_step", "low": 9, "mid": 1, "high": 1},
             "evidence": [{"track": "no such track", "begin_us": 0, "duration_us": 1},
                          {"track": 7, "begin_us": -1e300, "duration_us": 1e300}],
             "source": [{"file": "/etc/passwd", "line": -5, "end_line": -7}]},
            {"id": "loader.workers", "state": "silent"}, 5, null]})",
        trace);
    QVERIFY(rules);
    QCOMPARE(rules->size(), 1U);
    const advisor::Advice& advice = rules->front().advice;
    QCOMPARE(advice.title, std::string("a?[2Jb"));
    QVERIFY(!advice.toggle);
    QVERIFY(!advice.saving);
    QVERIFY(advice.evidence.empty());
    QVERIFY(advice.reason.empty());
    QCOMPARE(advice.source.front().line, 0);
    QCOMPARE(advice.source.front().endLine, 0);
    const auto most = app::remoteAdvice(R"({"advice": [{"id": "loader.workers", "state": "fires", "title": ")" +
                                            QByteArray(100'000, 'x') + R"("}]})",
                                        trace);
    QVERIFY(most && most->size() == 1);
    QVERIFY(most->front().advice.title.size() <= 4000);
}

QTEST_MAIN(RemoteTraceTest)
#include "remote_trace_test.moc"
