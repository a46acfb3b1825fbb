#include "app/main_window.h"
#include "app/record/record_dialog.h"

#include <QApplication>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>

// Takes pictures of recording a program, in light and dark:
//   stepscope_record_screenshots COMMAND FOLDER [WIDTHxHEIGHT]
namespace {

constexpr int kPatienceMs = 60'000;

class Photographer {
public:
    Photographer(QString folder, QSize size)
        : m_folder(std::move(folder)), m_window(&m_session, &m_selection, &m_appearance)
    {
        m_window.resize(size);
        m_window.show();
        await([this] { return m_window.isComplete(); });
    }

    void takeAll(const QString& command)
    {
        take(&m_window, "record_door");
        m_window.findChild<QPushButton*>("recordDoor")->click();
        m_dialog = m_window.findChild<app::RecordDialog*>();
        take(m_dialog, "record_empty");
        run("no-such-program --fast");
        await([this] { return !m_dialog->isRecording(); });
        take(m_dialog, "record_error");
        run(command);
        await([this] { return m_dialog->findChild<QPlainTextEdit*>("output")->blockCount() > 3; });
        take(m_dialog, "record_running");
        await([this] { return !m_dialog->isRecording() && m_session.analysed() != nullptr; });
        take(&m_window, "record_opened");
    }

private:
    void run(const QString& command)
    {
        m_dialog->findChild<QComboBox*>("command")->setCurrentText(command);
        m_dialog->findChild<QPushButton*>("record")->click();
    }

    template <class Condition>
    void await(const Condition& condition)
    {
        if (!QTest::qWaitFor(condition, kPatienceMs))
            qFatal("what is to be seen did not come");
        QTest::qWait(500); // what is drawn with a delay
    }

    void take(QWidget* what, const QString& name)
    {
        for (const app::Theme theme : {app::Theme::Light, app::Theme::Dark}) {
            m_appearance.setTheme(theme);
            QTest::qWait(400);
            what->grab().save(m_folder + '/' + name + (theme == app::Theme::Dark ? "_dark.png" : ".png"));
        }
    }

    QString m_folder;
    app::Appearance m_appearance;
    app::Session m_session;
    app::Selection m_selection;
    app::MainWindow m_window;
    app::RecordDialog* m_dialog = nullptr;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("stepscope");
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 3)
        qFatal("usage: stepscope_record_screenshots COMMAND FOLDER [WIDTHxHEIGHT]");
    const QStringList size = arguments.value(3, "1440x900").split('x');
    Photographer(arguments[2], {size.value(0).toInt(), size.value(1).toInt()}).takeAll(arguments[1]);
    return 0;
}
