#include "app/look/save_dialog.h"

#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

namespace {

const QList<app::FileKind> kKinds = {{"Web page (*.html)", ".html"}, {"PDF (*.pdf)", ".pdf"}};

/// Simulates a user's answers to consecutive dialogs.
class SimulatedUser : public QObject {
public:
    /// @param answers  answers to the questions whether to replace a file
    SimulatedUser(QString name, QString filter, QList<QMessageBox::StandardButton> answers)
        : m_name(std::move(name)), m_filter(std::move(filter)), m_answers(std::move(answers))
    {
        connect(&m_look, &QTimer::timeout, this, &SimulatedUser::look);
        m_look.start(10);
    }
    int asked = 0;

private:
    void look()
    {
        QWidget* front = QApplication::activeModalWidget();
        if (auto* box = qobject_cast<QMessageBox*>(front)) {
            ++asked;
            box->button(m_answers.takeFirst())->click();
        } else if (auto* dialog = qobject_cast<QFileDialog*>(front)) {
            if (std::exchange(m_named, true))
                return dialog->reject(); // asked again: cancelled
            dialog->selectNameFilter(m_filter);
            dialog->findChild<QLineEdit*>("fileNameEdit")->setText(m_name);
            QMetaObject::invokeMethod(dialog, "accept");
        }
    }

    QString m_name, m_filter;
    QList<QMessageBox::StandardButton> m_answers;
    bool m_named = false;
    QTimer m_look;
};

} // namespace

class SaveDialogTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs); }

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void aNameGetsTheExtensionOfTheChosenKind();
    void aDotInANameIsNotAnExtension();
    void aFileWithTheAddedExtensionNeedsConfirmation();

private:
    void make(const QString& name) const
    {
        QFile file(m_folder->filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
    }
    [[nodiscard]] QString ask() const
    {
        return app::askWhereToSave(nullptr, "Save", m_folder->filePath("report.html"), kKinds);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void SaveDialogTest::aNameGetsTheExtensionOfTheChosenKind()
{
    const SimulatedUser pdf("mine", kKinds[1].filter, {});
    QCOMPARE(ask(), m_folder->filePath("mine.pdf"));
    QCOMPARE(pdf.asked, 0);
}

void SaveDialogTest::aDotInANameIsNotAnExtension()
{
    const SimulatedUser named("run.v2", kKinds[0].filter, {});
    QCOMPARE(ask(), m_folder->filePath("run.v2.html"));
}

void SaveDialogTest::aFileWithTheAddedExtensionNeedsConfirmation()
{
    make("mine.pdf");
    {
        const SimulatedUser careful("mine", kKinds[1].filter, {QMessageBox::No});
        QCOMPARE(ask(), QString());
        QCOMPARE(careful.asked, 1);
    }
    const SimulatedUser sure("mine", kKinds[1].filter, {QMessageBox::Yes});
    QCOMPARE(ask(), m_folder->filePath("mine.pdf"));
    QCOMPARE(sure.asked, 1);
}

QTEST_MAIN(SaveDialogTest)
#include "save_dialog_test.moc"
