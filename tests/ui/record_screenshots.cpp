#include "app/record/record_dialog.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>

// Takes pictures of recording a program, in light and dark:
//   stepscope_record_screenshots COMMAND FOLDER [WIDTHxHEIGHT]
namespace {

class RecordPhotographer : public ui::Photographer {
public:
    using Photographer::Photographer;

    void takeAll(const QString& command)
    {
        take("record_door");
        m_window.findChild<QPushButton*>("recordDoor")->click();
        m_dialog = m_window.findChild<app::RecordDialog*>();
        take("record_empty", m_dialog);
        run("no-such-program --fast");
        await("the refusal", [this] { return !m_dialog->isRecording(); });
        take("record_error", m_dialog);
        run(command);
        await("some output", [this] { return m_dialog->findChild<QPlainTextEdit*>("output")->blockCount() > 3; });
        take("record_running", m_dialog);
        await("the end of the program", [this] { return !m_dialog->isRecording(); });
        awaitAnalysis();
        take("record_opened");
    }

private:
    void run(const QString& command)
    {
        m_dialog->findChild<QComboBox*>("command")->setCurrentText(command);
        m_dialog->findChild<QPushButton*>("record")->click();
    }

    app::RecordDialog* m_dialog = nullptr;
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 3)
        qFatal("usage: stepscope_record_screenshots COMMAND FOLDER [WIDTHxHEIGHT]");
    RecordPhotographer(arguments[2], ui::sizeOf(arguments.value(3, "1440x900"))).takeAll(arguments[1]);
    return 0;
}
