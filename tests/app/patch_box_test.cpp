#include "app/findings/patch_box.h"

#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QApplication>
#include <QClipboard>
#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

using app_test::find;
using test_support::traceFromText;

namespace {

const QByteArray kScript = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, batch_size=32)\n";
const QByteArray kPatched =
    "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, batch_size=32, num_workers=4)\n";

std::unique_ptr<app_test::OwnFolders> folders;

class PatchBoxTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        qputenv("XDG_STATE_HOME", m_folder->filePath("state").toUtf8());
        qputenv("STEPSCOPE_PROGRAMS", PROGRAMS);
        m_file = m_folder->filePath("train.py");
        write(kScript);
    }

    void showsTheDiffOfTheUsersFile()
    {
        const auto box = shown("loader.workers", "4");
        const QString diff = find<QPlainTextEdit>(box.get(), "diff")->toPlainText();
        QVERIFY2(diff.contains("+loader = DataLoader(data, batch_size=32, num_workers=4)"), qPrintable(diff));
        QVERIFY(diff.contains("-loader = DataLoader(data, batch_size=32)"));
        QCOMPARE(content(), kScript);
        find<QPushButton>(box.get(), "copyPatch")->click();
        QCOMPARE(QApplication::clipboard()->text(), diff);
    }

    void appliesAndReverts()
    {
        const auto box = shown("loader.workers", "4");
        auto* apply = find<QPushButton>(box.get(), "applyPatch");
        auto* revert = find<QPushButton>(box.get(), "revertPatch");
        QVERIFY(apply->isEnabled());
        QVERIFY(!revert->isVisible());
        apply->click();
        QVERIFY(QTest::qWaitFor([&] { return revert->isVisible() && revert->isEnabled(); }, 20'000));
        QCOMPARE(content(), kPatched);
        QVERIFY(!apply->isEnabled());
        revert->click();
        QVERIFY(QTest::qWaitFor([&] { return !revert->isVisible(); }, 20'000));
        QCOMPARE(content(), kScript);
        QVERIFY(apply->isEnabled());
    }

    void theWayBackIsThereAfterTheBoxIsMadeAgain()
    {
        apply(shown("loader.workers", "4").get());
        QCOMPARE(content(), kPatched);
        const auto box = shown("loader.workers", "4"); // as after a restart or when the trace is opened again
        auto* revert = find<QPushButton>(box.get(), "revertPatch");
        QVERIFY(revert->isVisible() && revert->isEnabled());
        QVERIFY(!find<QPushButton>(box.get(), "applyPatch")->isEnabled());
        QVERIFY(find<QPlainTextEdit>(box.get(), "diff")
                    ->toPlainText()
                    .contains("+loader = DataLoader(data, batch_size=32, num_workers=4)"));
        revert->click();
        QVERIFY(QTest::qWaitFor([&] { return content() == kScript; }, 20'000));
    }

    void aSecondFindingComesOnTopAndEachIsTakenBackByItself()
    {
        apply(shown("loader.workers", "4").get());
        const auto second = shown("loader.pin_memory", "true");
        const QString diff = find<QPlainTextEdit>(second.get(), "diff")->toPlainText();
        QVERIFY2(diff.contains("-loader = DataLoader(data, batch_size=32, num_workers=4)"), qPrintable(diff));
        apply(second.get());
        QVERIFY2(content().contains("num_workers=4, pin_memory=True)"), content().constData());
        const auto first = shown("loader.workers", "4");
        find<QPushButton>(first.get(), "revertPatch")->click();
        QVERIFY(QTest::qWaitFor([&] { return !content().contains("num_workers"); }, 20'000));
        QVERIFY(content().contains("batch_size=32, pin_memory=True)"));
        QSignalSpy changed(second.get(), &app::PatchBox::filesChanged);
        second->reload(); // the other box has changed the file
        auto* revert = find<QPushButton>(second.get(), "revertPatch");
        QVERIFY(QTest::qWaitFor([&] { return revert->isEnabled(); }, 20'000));
        revert->click();
        QVERIFY(QTest::qWaitFor([&] { return changed.count() == 1; }, 20'000));
        QCOMPARE(content(), kScript);
    }

    void severalChangesAreOneDiffAndAreTakenBackTogether()
    {
        const auto box = shown({{"loader.workers", "4"}, {"loader.pin_memory", "true"}});
        const QString diff = find<QPlainTextEdit>(box.get(), "diff")->toPlainText();
        QVERIFY2(diff.contains("num_workers=4, pin_memory=True)"), qPrintable(diff));
        apply(box.get());
        QVERIFY2(content().contains("num_workers=4, pin_memory=True)"), content().constData());
        auto* revert = find<QPushButton>(box.get(), "revertPatch");
        QVERIFY(revert->isVisible() && revert->isEnabled());
        QVERIFY(!find<QPushButton>(box.get(), "applyPatch")->isEnabled());
        // If the diff is made again with one change applied, the program does not contain the whole change.
        const auto workers = shown("loader.workers", "4");
        find<QPushButton>(workers.get(), "revertPatch")->click();
        QVERIFY(QTest::qWaitFor([&] { return !content().contains("num_workers"); }, 20'000));
        box->reload();
        auto* add = find<QPushButton>(box.get(), "applyPatch");
        QVERIFY(QTest::qWaitFor([&] { return add->isEnabled(); }, 20'000));
        QVERIFY(!revert->isVisible());
        apply(box.get());
        QVERIFY2(content().contains("num_workers=4") && content().contains("pin_memory=True"), content().constData());
        revert->click();
        QVERIFY(QTest::qWaitFor([&] { return content() == kScript; }, 20'000));
    }

    void refusesAFileThatChangedSinceTheRecording()
    {
        const auto box = shown("loader.workers", "4");
        write(kScript + "# edited\n");
        find<QPushButton>(box.get(), "applyPatch")->click();
        auto* outcome = find<QLabel>(box.get(), "patchOutcome");
        QVERIFY(QTest::qWaitFor([&] { return outcome->isVisible(); }, 20'000));
        QVERIFY(!outcome->text().isEmpty());
        QCOMPARE(content(), kScript + "# edited\n");
        QVERIFY(!find<QPushButton>(box.get(), "revertPatch")->isVisible());
    }

    void saysWhyThereIsNoDiff()
    {
        const auto box = shown("loader.workers", "many");
        QVERIFY(!find<QPushButton>(box.get(), "applyPatch")->isVisible());
        QVERIFY(!find<QLabel>(box.get(), "patchHow")->text().isEmpty());
    }

private:
    static void apply(app::PatchBox* box)
    {
        QSignalSpy changed(box, &app::PatchBox::filesChanged);
        find<QPushButton>(box, "applyPatch")->click();
        QVERIFY(QTest::qWaitFor([&] { return changed.count() == 1; }, 20'000));
    }
    void write(const QByteArray& text) const
    {
        QFile file(m_file);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    [[nodiscard]] QByteArray content() const
    {
        QFile file(m_file);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// A box for the recorded program whose loader is in line 3, once its diff has been made.
    [[nodiscard]] std::unique_ptr<app::PatchBox> shown(const char* key, const char* to) const
    {
        return shown({{key, to}});
    }
    [[nodiscard]] std::unique_ptr<app::PatchBox> shown(std::vector<advisor::change::WantedChange> changes) const
    {
        const QString hash = QCryptographicHash::hash(kScript, QCryptographicHash::Sha256).toHex();
        const QJsonObject site{{"file", m_file}, {"line", 3},        {"column", 9},
                               {"end_line", 3},  {"end_column", 40}, {"function", "<module>"}};
        const QJsonObject loader{
            {"id", "loader:0"},
            {"kind", "loader"},
            {"class", "torch.utils.data.DataLoader"},
            {"site", site},
            {"role", "training"},
            {"chain", QJsonArray()},
            {"count", 1},
            {"framework", QJsonValue::Null},
            {"settings", QJsonObject{{"num_workers", QJsonObject{{"value", 0}, {"given", false}}}}}};
        const QJsonObject program{{"schema", 1},
                                  {"argv", QJsonArray{"python", "train.py"}},
                                  {"cwd", m_folder->path()},
                                  {"script", m_file},
                                  {"files", QJsonArray{QJsonObject{{"path", m_file}, {"sha256", hash}, {"lines", 3}}}},
                                  {"objects", QJsonArray{loader}},
                                  {"arguments", QJsonArray()}};
        const QByteArray json = QJsonDocument(program).toJson(QJsonDocument::Compact);
        auto box = std::make_unique<app::PatchBox>(traceFromText("meta program " + json.toStdString() + "\nmain\n"),
                                                   std::move(changes), nullptr);
        box->resize(500, 400);
        box->show();
        const auto* how = find<QLabel>(box.get(), "patchHow");
        const QString preparing = how->text();
        if (!QTest::qWaitFor([&] { return how->text() != preparing; }, 20'000))
            qFatal("the diff was not made in time");
        return box;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_file;
};

} // namespace

QTEST_MAIN(PatchBoxTest)
#include "patch_box_test.moc"
