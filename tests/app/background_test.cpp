#include "app/session/background.h"

#include <QTest>
#include <latch>

using app::Background;

class BackgroundTest : public QObject {
    Q_OBJECT
private slots:
    void whatIsCancelledSaysNothingMore();
    void workThatCannotStopIsNotWaitedFor();
};

void BackgroundTest::whatIsCancelledSaysNothingMore()
{
    QObject owner;
    Background background(&owner);
    int said = 0;
    background.start([&said](const std::stop_token&, const Background::Post& post) { post([&said] { ++said; }); });
    background.cancel();
    background.start([&said](const std::stop_token&, const Background::Post& post) { post([&said] { said += 10; }); });
    QTRY_COMPARE_WITH_TIMEOUT(said, 10, 20'000);
}

void BackgroundTest::workThatCannotStopIsNotWaitedFor()
{
    QObject owner;
    std::latch goOn(1);
    std::atomic<int> ended = 0;
    int said = 0;
    {
        Background background(&owner, Background::Stops::AtItsEnd);
        const auto stubborn = [&](const std::stop_token&, const Background::Post& post) {
            goOn.wait();
            ++ended;
            post([&said] { ++said; });
        };
        background.start(stubborn);
        background.cancel(); // would never return
        background.start(stubborn);
        background.start([&said](const std::stop_token&, const Background::Post& post) {
            post([&said] { said += 10; }); // beside the others
        });
        QTRY_COMPARE_WITH_TIMEOUT(said, 10, 20'000);
        QCOMPARE(ended.load(), 0);
        goOn.count_down();
    }
    QCOMPARE(ended.load(), 2); // its end waits for all
    QCoreApplication::processEvents();
    QCOMPARE(said, 10);
}

QTEST_MAIN(BackgroundTest)
#include "background_test.moc"
