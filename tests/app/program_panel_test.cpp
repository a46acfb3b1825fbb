#include "app/views/program/program.h"

#include "app/services/program_process.h"
#include "tests/app/app_support.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <memory>

using app_test::find;
using test_support::traceFromText;

namespace {

constexpr auto kProgram =
    R"(meta program {"schema":1,"script":"/home/user/train.py","python":"3.11.7","torch":"2.11.0","cwd":"/home/user","objects":[)"
    R"({"id":"loader:0","kind":"loader","class":"torch.utils.data.DataLoader","role":"training","count":3,)"
    R"("site":{"file":"/home/user/data.py","line":41,"column":4,"end_line":41,"end_column":40,"function":"main"},)"
    R"("settings":{"batch_size":{"value":64,"given":true,"argument":"batch"},"num_workers":{"value":0,"given":false,"argument":null}}},)"
    R"({"id":"optimizer:0","kind":"optimizer","class":"torch.optim.SGD","site":null,"settings":{"lr":{"value":0.1,"given":true,"argument":null}}}],)"
    R"("arguments":[{"dest":"batch","options":["--batch-size"],"value":64,"default":1,"given":true,"type":"int"}]})";

struct Panel {
    explicit Panel(const std::string& text) : tree(find<QTreeView>(&panel, "programTree")), tester(tree->model())
    {
        panel.resize(900, 300);
        panel.setTrace(traceFromText(text));
        panel.show();
    }
    [[nodiscard]] QString cell(int row, int column, const QModelIndex& parent = {}) const
    {
        return tree->model()->index(row, column, parent).data().toString();
    }
    app::ProgramPanel panel;
    QTreeView* tree;
    QAbstractItemModelTester tester;
};

std::unique_ptr<app_test::OwnFolders> folders;

class ProgramPanelTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void objectsAreListedWithSettingsAndPlaces()
    {
        const Panel panel(kProgram);
        QCOMPARE(panel.tree->model()->rowCount(), 2);
        QCOMPARE(panel.cell(0, 0), QString("Data loader: DataLoader (training)"));
        QCOMPARE(panel.cell(0, 1), QString("batch_size=64  ·  3 times"));
        QCOMPARE(panel.cell(0, 2), QString("data.py:41"));
        QCOMPARE(panel.cell(1, 2), QString());
        const QModelIndex loader = panel.tree->model()->index(0, 0);
        QCOMPARE(panel.cell(0, 0, loader), QString("batch_size"));
        QCOMPARE(panel.cell(0, 1, loader), QString("64, from --batch-size"));
        QCOMPARE(panel.cell(1, 1, loader), QString("0 (default)"));
        QVERIFY(find<QLabel>(&panel.panel, "programHead")->text().contains("PyTorch 2.11.0"));
    }

    void enterAsksForTheLine()
    {
        Panel panel(kProgram);
        const QSignalSpy asked(&panel.panel, &app::ProgramPanel::lineActivated);
        panel.tree->setCurrentIndex(panel.tree->model()->index(0, 0));
        QTest::keyClick(panel.tree, Qt::Key_Return);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toString(), QString("/home/user/data.py"));
        QCOMPARE(asked[0][1].toInt(), 41);
        panel.tree->setCurrentIndex(panel.tree->model()->index(1, 0)); // its source line is unknown
        QTest::keyClick(panel.tree, Qt::Key_Return);
        QCOMPARE(asked.count(), 1);
    }

    void theFilterKeepsObjectsWhoseSettingsMatch()
    {
        const Panel panel(kProgram);
        find<QLineEdit>(&panel.panel, "programFilter")->setText("num_WORKERS");
        QVERIFY(!panel.tree->isRowHidden(0, {}));
        QVERIFY(panel.tree->isRowHidden(1, {}));
    }

    void aTraceWithoutAProgramSaysWhatToDo()
    {
        Panel panel(kProgram);
        panel.panel.setTrace(traceFromText("main pid=1\n step 0 0 100\n"));
        QCOMPARE(panel.tree->model()->rowCount(), 0);
        QVERIFY(!panel.tree->isVisible());
        QVERIFY(find<QLabel>(&panel.panel, "programEmpty")->isVisible());
        QVERIFY(!find<QLabel>(&panel.panel, "programEmpty")->text().isEmpty());
    }

    void aBrokenDocumentIsReported()
    {
        const Panel panel("meta program {\"schema\":1,\"objects\":[");
        QVERIFY(find<QLabel>(&panel.panel, "programEmpty")->isVisible());
        QVERIFY(!find<QLabel>(&panel.panel, "programEmpty")->text().isEmpty());
    }

    void theEditorIsTheUsersOwn()
    {
        const QTemporaryDir folder;
        const QString program = folder.filePath("my editor"), seen = folder.filePath("seen");
        QFile script(program);
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write("#!/bin/sh\nprintf '%s|' \"$@\" > '" + seen.toUtf8() + ".new' && mv '" + seen.toUtf8() +
                     ".new' '" + seen.toUtf8() + "'\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        script.close();
        QSettings().setValue("editor/command", '"' + program + "\" --line {line} {file}");
        QCOMPARE(app::openInEditor(program, 12), QString());
        QVERIFY(QTest::qWaitFor([&] { return QFile::exists(seen); }));
        QFile words(seen);
        QVERIFY(words.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(words.readAll()), QString("--line|12|%1|").arg(program));
        QVERIFY(!app::openInEditor(folder.filePath("gone.py"), 1).isEmpty());
        QVERIFY(!app::openInEditor("--version", 1).isEmpty());
    }

    void relativeSourceFilesAreNearTheTrace()
    {
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkpath("program/log/run1") && QDir(folder.path()).mkpath("program/models"));
        for (const char* name : {"program/train.py", "program/models/net.py"}) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
        }
        const std::filesystem::path trace = folder.filePath("program/log/run1/trace.json").toStdString();
        QCOMPARE(app::findSourceFile("train.py", trace), folder.filePath("program/train.py"));
        QCOMPARE(app::findSourceFile("models/net.py", trace), folder.filePath("program/models/net.py"));
        QCOMPARE(app::findSourceFile(folder.filePath("program/train.py"), {}), folder.filePath("program/train.py"));
        QCOMPARE(app::findSourceFile("net.py", trace), QString());
        QCOMPARE(app::findSourceFile("train.py", {}), QString());
        QCOMPARE(app::findSourceFile(folder.filePath("gone.py"), trace), QString());
        QCOMPARE(app::findSourceFile({}, trace), QString());
        QVERIFY(app::openSourceInEditor("gone.py", 3, trace).contains("gone.py"));
    }
};

} // namespace

QTEST_MAIN(ProgramPanelTest)
#include "program_panel_test.moc"
