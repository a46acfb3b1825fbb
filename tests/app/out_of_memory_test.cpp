#include "app/window/application.h"
#include "app/window/window_strips.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/trace_text.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

// If memory runs out during an action, a strip above the timeline reports it and the app continues.

namespace {

constexpr int kPatienceMs = 30'000;
constexpr std::size_t kAddressSpace = std::size_t{1} << 47; // address space of a process on x86-64

/// Size from which allocations of all threads except the main one fail; 0: none fails.
std::atomic<std::size_t> failingFrom = 0;
const std::thread::id mainThread = std::this_thread::get_id();

void* allocate(std::size_t bytes)
{
    const std::size_t limit = failingFrom;
    if (limit > 0 && bytes >= limit && std::this_thread::get_id() != mainThread)
        throw std::bad_alloc();
    if (bytes >= kAddressSpace) // with AddressSanitizer, malloc() ends the program instead of returning null
        throw std::bad_alloc();
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1))
        return memory;
    throw std::bad_alloc();
}

/// A trace that needs more than a page of memory to read and analyse.
std::filesystem::path longTrace(const QTemporaryDir& folder)
{
    const std::filesystem::path file = folder.filePath("long.sspack").toStdString();
    const auto trace = test_support::traceFromText(
        "repeat 4000 every 1000\nmain\nstep 0 0 1000\nphase \"data wait\" 0 500\nop aten::mm 500 300\nstream 0 7\n"
        "kernel gemm 500 200\nend\n");
    if (!profiler::formats::saveTrace(*trace, file, {}))
        qFatal("a test's trace cannot be written");
    return file;
}

/// Whether there is a notice with this start that reports insufficient memory. The query of the trainer's capabilities
/// may fail for the same reason and emit another notice.
bool wasTold(const QSignalSpy& notices, const QString& begin)
{
    return std::any_of(notices.begin(), notices.end(), [&](const QList<QVariant>& notice) {
        return notice[0].toString().startsWith(begin) && notice[0].toString().contains("memory");
    });
}

/// Allocates more memory than available, like a widget that trusts an absurd count.
class Greedy : public QObject {
public:
    bool event(QEvent* event) override
    {
        if (event->type() != QEvent::User)
            return QObject::event(event);
        std::vector<char> absurd;
        absurd.reserve(std::size_t{1} << 50);
        done = true;
        return true;
    }
    bool done = false;
};

} // namespace

// Replaces the global operator new, so that real allocations of the readers and analyses fail on request.
void* operator new(std::size_t bytes)
{
    return allocate(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    return std::malloc(bytes > 0 ? bytes : 1); // std::stable_sort frees its buffer with the operator below
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

class OutOfMemoryTest : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { failingFrom = 0; }
    void anEventThatRunsOutOfMemoryIsReported();
    void aReaderThatRunsOutOfMemoryIsReported();
    void anAnalysisThatRunsOutOfMemoryIsReported();
};

void OutOfMemoryTest::aReaderThatRunsOutOfMemoryIsReported()
{
    const QTemporaryDir folder;
    const auto file = longTrace(folder);
    app_test::App app;
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    QSignalSpy noticed(&app.bench.notices, &app::Notices::noticed);
    failingFrom = 4096;
    app.bench.document.openTrace(file);
    QTRY_VERIFY_WITH_TIMEOUT(wasTold(noticed, "long.sspack cannot be opened: "), kPatienceMs);
    failingFrom = 0;
    QVERIFY(strip->isVisible());
    QVERIFY(!app.bench.document.isLoading());
    QCOMPARE(opened.count(), 0);
    app.bench.document.openTrace(file); // the app continues
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
}

void OutOfMemoryTest::anAnalysisThatRunsOutOfMemoryIsReported()
{
    const QTemporaryDir folder;
    const auto file = longTrace(folder);
    app_test::App app;
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QSignalSpy noticed(&app.bench.notices, &app::Notices::noticed);
    // The complete trace is loaded; its analysis has not started.
    const auto connection = connect(&app.bench.document, &app::TraceDocument::traceChanged, this, [&] {
        if (!app.bench.document.isPartial())
            failingFrom = 4096;
    });
    app.bench.document.openTrace(file);
    QTRY_VERIFY_WITH_TIMEOUT(wasTold(noticed, "The trace was not analysed: "), kPatienceMs);
    failingFrom = 0;
    disconnect(connection);
    QVERIFY(strip->isVisible());
    QVERIFY(!app.bench.document.analysed());
    QVERIFY(app.bench.document.trace()->sliceCount() > 0); // the timeline stays
    const auto* empty = app_test::find<QLabel>(&app.window, "advisorEmpty");
    QVERIFY2(empty->text().contains("was not analysed"), qPrintable(empty->text()));
    app.bench.document.openTrace(file);
    QTRY_VERIFY_WITH_TIMEOUT(app.bench.document.analysed(), kPatienceMs);
    QVERIFY(app.bench.document.whyNotAnalysed().isEmpty());
    QVERIFY(!empty->text().contains("was not analysed"));
}

void OutOfMemoryTest::anEventThatRunsOutOfMemoryIsReported()
{
    app_test::App app;
    auto* strip = app.window.findChild<app::NoticeStrip*>();
    QSignalSpy told(static_cast<app::Application*>(qApp), &app::Application::outOfMemory);
    Greedy greedy;
    for (int i = 1; i <= 3; ++i) { // and again
        QCoreApplication::postEvent(&greedy, new QEvent(QEvent::User));
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), i, kPatienceMs);
        QVERIFY(strip->isVisible());
        QVERIFY2(strip->text().contains("memory"), qPrintable(strip->text()));
        strip->dismiss();
    }
    QVERIFY(!greedy.done);
    // The app continues.
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("after.sspack").toStdString();
    QVERIFY(profiler::formats::saveTrace(*test_support::traceFromText("main\nop a 0 10\n"), file, {}));
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(!strip->isVisible());
}

// Like QTEST_MAIN, but with the app's own application object.
int main(int argc, char** argv)
{
    const app_test::OwnFolders folders;
    app::Application application(argc, argv);
    OutOfMemoryTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "out_of_memory_test.moc"
