#include "app/window/window_dialogs.h"

#include "app/document/trace_files.h"
#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/save_dialog.h"
#include "app/record/record_dialog.h"
#include "app/report/report_file.h"
#include "app/window/help_book.h"
#include "app/window/trust_question.h"
#include "app/window/workbench.h"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

namespace app {

WindowDialogs::WindowDialogs(Workbench* bench, QWidget* window) : QObject(window), m_bench(bench), m_window(window)
{
    connect(&m_bench->trust, &TrustStore::codeAsked, this, &WindowDialogs::askAboutCode);
    connect(&m_bench->trust, &TrustStore::copyAsked, this, &WindowDialogs::askForCopy);
}

void WindowDialogs::openTrace()
{
    const QString file = QFileDialog::getOpenFileName(m_window, tr("Open a trace"), {}, openTraceFilter());
    if (!file.isEmpty())
        m_bench->document.openTrace(file.toStdString());
}

void WindowDialogs::openJob()
{
    const QString folder = QFileDialog::getExistingDirectory(m_window, tr("Open a job: the folder of its traces"));
    if (!folder.isEmpty())
        m_bench->job.open({folder.toStdString()});
}

void WindowDialogs::openBeside()
{
    const QString file = QFileDialog::getOpenFileName(m_window, tr("Open a trace beside"), {}, openTraceFilter());
    if (!file.isEmpty())
        m_bench->pair.open(file.toStdString());
}

void WindowDialogs::askHowToOpen(const QString& file)
{
    const auto plain = [](QString name) { return name.replace('&', "&&"); };
    auto* menu = new QMenu(m_window);
    menu->setObjectName("howToOpen");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addSection(plain(QFileInfo(file).fileName()));
    menu->addAction(icon("side_by_side"), tr("Open &beside %1").arg(plain(m_bench->document.title())), this,
                    [this, file] { m_bench->pair.open(file.toStdString()); })
        ->setObjectName("openBesideThis");
    menu->addAction(icon("open"), tr("Open &instead"), this,
                    [this, file] { m_bench->document.openFile(file.toStdString()); })
        ->setObjectName("openInstead");
    menu->addSeparator();
    menu->addAction(tr("&Cancel"));
    menu->popup(QCursor::pos());
}

void WindowDialogs::exportTrace()
{
    // The extension determines the format.
    QList<FileKind> kinds;
    for (const TraceFileKind& kind : writableTraceKinds())
        kinds << FileKind{kind.filter, kind.extension};
    if (const QString file = askWhereToSave(m_window, tr("Export trace"), {}, kinds); !file.isEmpty())
        m_bench->document.exportTrace(file.toStdString());
}

void WindowDialogs::saveReport()
{
    if (const QString file = askForReportFile(m_window, tr("Save report"), "report.html"); !file.isEmpty())
        m_bench->reports.saveReport(file.toStdString());
}

void WindowDialogs::openConfiguration()
{
    const QString file =
        QFileDialog::getOpenFileName(m_window, tr("Open a configuration"), {}, tr("Configurations (*.json)"));
    if (!file.isEmpty())
        m_bench->configuration.load(file.toStdString());
}

void WindowDialogs::saveConfiguration()
{
    const QString file = askWhereToSave(m_window, tr("Save the configuration"), "training.json",
                                        {{tr("Configurations (*.json)"), ".json"}});
    if (file.isEmpty())
        return;
    if (const auto saved = m_bench->configuration.get().save(file.toStdString()); !saved)
        emit m_bench->notices.noticed(tr("Could not save the configuration."),
                                      QString::fromStdString(saved.error().message()), true);
}

void WindowDialogs::recordProgram()
{
    if (!m_record) {
        m_record = new RecordDialog(&m_bench->recording, &m_bench->trust, &m_bench->jobs, &m_bench->document, m_window);
        connect(m_record, &RecordDialog::recordingChanged, this, &WindowDialogs::recordingChanged);
    }
    m_record->show();
    m_record->raise();
    m_record->activateWindow();
}

bool WindowDialogs::isRecording() const
{
    return m_record && m_record->isRecording();
}

void WindowDialogs::stopRecordingForGood()
{
    if (m_record)
        m_record->stopForGood();
}

void WindowDialogs::askAboutCode(const CodeFile& file)
{
    // A form that stays usable may ask the same question again while it is on screen.
    for (auto* open : m_window->findChildren<TrustQuestion*>())
        if (open->file().path == file.path && open->file().sha256 == file.sha256 &&
            open->file().command == file.command)
            return open->raise();
    auto* question = new TrustQuestion(file, m_window);
    TrustStore* trust = &m_bench->trust;
    connect(question, &TrustQuestion::answered, trust,
            [trust, file](TrustStore::Answer answer) { trust->answerCode(file, answer); });
    question->open();
}

/// Measured programs must not change the user's files.
void WindowDialogs::askForCopy(const QString& folder, const QString& why)
{
    auto* box = new QMessageBox(QMessageBox::Question, tr("Run in a copy?"),
                                tr("Run the program in a copy of its folder?"), QMessageBox::NoButton, m_window);
    box->setObjectName("copyQuestion");
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText); // paths come from the trace
    box->setInformativeText(tr("Stepscope copies %1 to a temporary folder, runs the program there and deletes the "
                               "copy afterwards. Your files in %1 are not changed. Files that the program writes to "
                               "other folders are changed, as in any run.\n\nWhy a copy? %2.\n\nIf you agree, "
                               "Stepscope does not ask again.")
                                .arg(folder, why));
    if (auto* headline = box->findChild<QLabel*>("qt_msgbox_label")) {
        QFont bold = headline->font();
        bold.setBold(true);
        headline->setFont(bold);
    }
    QPushButton* copy = box->addButton(tr("Run in a copy"), QMessageBox::AcceptRole);
    box->setDefaultButton(box->addButton(QMessageBox::Cancel));
    TrustStore* trust = &m_bench->trust;
    connect(box, &QDialog::finished, trust, [trust, box, copy] { trust->answerCopy(box->clickedButton() == copy); });
    box->open();
}

void WindowDialogs::showHelp()
{
    const QString place = helpPlaceOf(QApplication::focusWidget());
    if (!m_help)
        m_help = new HelpBook(m_window);
    m_help->open(place);
    m_help->show();
    m_help->raise();
    m_help->activateWindow();
}

void WindowDialogs::showAbout()
{
    const auto& description = m_bench->configuration.description();
    QString text = tr("<h3>Stepscope %1</h3><p>Shows where the time of a training step goes, says what to change, "
                      "and measures whether the change pays.</p>")
                       .arg(QApplication::applicationVersion());
    if (m_bench->configuration.descriptionKnown())
        text += tr("<p>Trainer: LibTorch %1, %2. %3</p>")
                    .arg(QString::fromStdString(description.torchVersion).toHtmlEscaped())
                    .arg(formatCounted(description.cores, tr("core"), tr("cores")))
                    .arg(description.gpuAvailable ? tr("A GPU is available.")
                                                  : QString::fromStdString(description.gpuReason).toHtmlEscaped());
    QMessageBox::about(m_window, tr("About Stepscope"), text);
}

} // namespace app
