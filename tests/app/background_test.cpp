#include "app/services/background.h"

#include <QElapsedTimer>
#include <QTest>
#include <latch>
#include <thread>
#include <vector>

using app::Background;
using profiler::Error;

namespace {

constexpr int kPatienceMs = 20'000;

void unexpected(const Error& error)
{
    qFatal("work failed: %s", error.what.text.c_str());
}

} // namespace

class BackgroundTest : public QObject {
    Q_OBJECT
private slots:
    void cancelledWorkPostsNoResults();
    void cancellingDoesNotWait();
    void aThirdWorkItemWaits();
    void atMostTwoSupersededWorkItemsRun();
    void stoppingWorkStillPostsResults();
    void workThatRunsOutOfMemoryIsReported();
    void otherExceptionsAreReported();
    void aSupersededWorkItemFailsSilently();
};

void BackgroundTest::cancelledWorkPostsNoResults()
{
    QObject owner;
    Background background(&owner);
    int said = 0;
    background.start([&said](const std::stop_token&, const Background::Post& post) { post([&said] { ++said; }); },
                     unexpected);
    background.cancel();
    background.start([&said](const std::stop_token&, const Background::Post& post) { post([&said] { said += 10; }); },
                     unexpected);
    QTRY_COMPARE_WITH_TIMEOUT(said, 10, kPatienceMs);
}

void BackgroundTest::cancellingDoesNotWait()
{
    QObject owner;
    std::latch goOn(1);
    {
        Background background(&owner);
        background.start([&](const std::stop_token&, const Background::Post&) { goOn.wait(); }, unexpected);
        QElapsedTimer timer;
        timer.start();
        background.cancel(); // would otherwise never return
        QVERIFY(timer.elapsed() < 5000);
        QCOMPARE(background.running(), std::size_t{1});
        goOn.count_down();
    }
}

void BackgroundTest::aThirdWorkItemWaits()
{
    QObject owner;
    std::latch goOn(1);
    std::atomic<int> ended = 0;
    int said = 0;
    {
        Background background(&owner);
        const auto stubborn = [&](const std::stop_token&, const Background::Post& post) {
            goOn.wait();
            ++ended;
            post([&said] { ++said; });
        };
        background.start(stubborn, unexpected);
        background.start(stubborn, unexpected);
        background.start(
            [&said](const std::stop_token&, const Background::Post& post) { post([&said] { said += 10; }); },
            unexpected);
        QTest::qWait(100);
        QCOMPARE(said, 0);
        QCOMPARE(background.running(), Background::kMostAtOnce);
        goOn.count_down();
        QTRY_COMPARE_WITH_TIMEOUT(said, 10, kPatienceMs);
    }
    QCOMPARE(ended.load(), 2); // the destructor waits for all
    QCoreApplication::processEvents();
    QCOMPARE(said, 10);
}

void BackgroundTest::atMostTwoSupersededWorkItemsRun()
{
    QObject owner;
    Background background(&owner);
    std::atomic<int> running = 0, most = 0, begun = 0;
    int result = -1;
    for (int i = 0; i < 20; ++i) {
        background.start(
            [&, i](const std::stop_token& stop, const Background::Post& post) {
                const int now = ++running;
                for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
                }
                ++begun;
                // Checks its stop token occasionally, like an analysis; the last one runs to its end.
                for (int look = 0; look < 40 && !stop.stop_requested(); ++look)
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                --running;
                post([&result, i] { result = i; });
            },
            unexpected);
        QTest::qWait(i % 3 == 0 ? 10 : 0);
        QVERIFY(background.running() <= Background::kMostAtOnce);
    }
    QTRY_COMPARE_WITH_TIMEOUT(result, 19, kPatienceMs);
    QVERIFY2(most <= 2, qPrintable(QString::number(most)));
    QVERIFY(begun <= 20);
    QTRY_COMPARE_WITH_TIMEOUT(background.running(), std::size_t{0}, kPatienceMs);
}

void BackgroundTest::stoppingWorkStillPostsResults()
{
    QObject owner;
    Background background(&owner);
    bool stopped = false;
    background.start(
        [&](const std::stop_token& stop, const Background::Post& post) {
            while (!stop.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            post([&] { stopped = true; });
        },
        unexpected);
    background.requestStop();
    QTRY_VERIFY_WITH_TIMEOUT(stopped, kPatienceMs);
}

void BackgroundTest::workThatRunsOutOfMemoryIsReported()
{
#ifdef __SANITIZE_ADDRESS__
    QSKIP("the sanitizer ends a program that asks for more memory than there is");
#endif
    QObject owner;
    Background background(&owner);
    std::vector<Error> failures;
    bool answered = false;
    background.start(
        [&](const std::stop_token&, const Background::Post& post) {
            std::vector<char> absurd;
            absurd.reserve(std::size_t{1} << 50); // like a reader that trusts a count in a file
            post([&] { answered = true; });
        },
        [&](const Error& error) { failures.push_back(error); });
    QTRY_COMPARE_WITH_TIMEOUT(failures.size(), std::size_t{1}, kPatienceMs);
    QCOMPARE(QString::fromStdString(failures[0].what.id), QString("work.no_memory"));
    QVERIFY(!answered);
    background.start([&](const std::stop_token&, const Background::Post& post) { post([&] { answered = true; }); },
                     unexpected);
    QTRY_VERIFY_WITH_TIMEOUT(answered, kPatienceMs);
}

void BackgroundTest::otherExceptionsAreReported()
{
    QObject owner;
    Background background(&owner);
    std::string said;
    background.start(
        [](const std::stop_token&, const Background::Post&) { throw std::runtime_error("the disk is gone"); },
        [&](const Error& error) { said = error.what.text; });
    QTRY_COMPARE_WITH_TIMEOUT(said, std::string("the disk is gone"), kPatienceMs);
}

void BackgroundTest::aSupersededWorkItemFailsSilently()
{
    QObject owner;
    Background background(&owner);
    std::latch goOn(1);
    bool failed = false, answered = false;
    background.start(
        [&](const std::stop_token&, const Background::Post&) {
            goOn.wait();
            throw std::bad_alloc();
        },
        [&](const Error&) { failed = true; });
    background.start([&](const std::stop_token&, const Background::Post& post) { post([&] { answered = true; }); },
                     unexpected);
    goOn.count_down();
    QTRY_VERIFY_WITH_TIMEOUT(answered, kPatienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(background.running(), std::size_t{0}, kPatienceMs);
    QCoreApplication::processEvents();
    QVERIFY(!failed);
}

QTEST_MAIN(BackgroundTest)
#include "background_test.moc"
