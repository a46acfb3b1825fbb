#include "app/findings/finding_card.h"
#include "app/findings/finding_details.h"
#include "app/window/workbench.h"
#include "tests/app/app_support.h"

#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QToolButton>

using app_test::find;

// A card whose verdict is updated every second, as in a live run.

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

advisor::RuleAdvice workers(const char* to)
{
    advisor::RuleAdvice advice;
    advice.id = "loader.workers";
    advice.advice.toggle = advisor::Toggle{"loader.workers", "0", to};
    return advice;
}

QString code(const app::FindingCard& card)
{
    QString all;
    for (const auto* edit : card.findChildren<QPlainTextEdit*>())
        all += edit->toPlainText();
    return all;
}

} // namespace

class FindingCardTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void theCodeFollowsTheAdvice();
    void itFitsIntoTheNarrowestPanel();
};

void FindingCardTest::theCodeFollowsTheAdvice()
{
    app::Workbench bench;
    app::FindingCard card(app_test::cardServices(bench), workers("2"), nullptr);
    auto* why = find<QToolButton>(&card, "why");
    why->click();
    QVERIFY2(code(card).contains("num_workers=2"), qPrintable(code(card)));
    const auto* edit = card.findChild<QPlainTextEdit*>();
    card.setAdvice(workers("2"), 1);
    QCOMPARE(card.findChild<QPlainTextEdit*>(), edit); // unchanged parts stay, with their text selection
    card.setAdvice(workers("4"), 1);
    QVERIFY2(code(card).contains("num_workers=4") && !code(card).contains("num_workers=2"), qPrintable(code(card)));
    QVERIFY(card.findChild<app::TipBox*>()->isVisibleTo(&card)); // and it is still expanded
    why->click();
    card.setAdvice(workers("8"), 1);
    QVERIFY(!card.findChild<app::TipBox*>()->isVisibleTo(&card));
}

/// With all its buttons: those of a recorded program, whose change can be measured and shown as a diff.
void FindingCardTest::itFitsIntoTheNarrowestPanel()
{
    app::Workbench bench;
    app::FindingCard card(app_test::cardServices(bench), workers("2"), nullptr);
    for (const char* name : {"show", "apply", "showDiff"})
        find<QPushButton>(&card, name)->show();
    const int width = card.minimumSizeHint().width();
    QVERIFY2(width <= 260, qPrintable(QString::number(width)));
}

QTEST_MAIN(FindingCardTest)
#include "finding_card_test.moc"
