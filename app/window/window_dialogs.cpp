#include "app/window/window_dialogs.h"

#include "app/document/trace_files.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "app/look/theme.h"
#include "app/record/record_dialog.h"
#include "app/report/report_saver.h"
#include "app/window/help_book.h"
#include "app/window/remote_dialog.h"
#include "app/window/workbench.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

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

void WindowDialogs::openRemote()
{
    auto* dialog = new RemoteDialog(m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &RemoteDialog::chosen, &m_bench->remote, &RemoteTraceService::open);
    dialog->open();
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
        text += tr("<p>Trainer: LibTorch %1, %2, %3</p>")
                    .arg(QString::fromStdString(description.torchVersion).toHtmlEscaped())
                    .arg(formatCounted(description.cores, tr("core"), tr("cores")))
                    .arg(description.gpuAvailable ? tr("GPU available")
                                                  : QString::fromStdString(description.gpuReason).toHtmlEscaped());
    QMessageBox::about(m_window, tr("About Stepscope"), text);
}

namespace {

constexpr int kWidth = 560;

QLabel* makeTextLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* makeFact(const QString& name, const QString& text, QWidget* parent)
{
    QLabel* label = makeTextLabel(text, parent);
    label->setObjectName(name);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

/// Paths and hashes have no natural break points, so they are broken after a fixed number of characters.
QString breakable(const QString& text)
{
    QString broken;
    for (qsizetype i = 0; i < text.size(); ++i) {
        broken += text[i];
        if (i % 8 == 7)
            broken += QChar(0x200b);
    }
    return broken;
}

QString headingOf(const CodeFile& file)
{
    if (file.isProgram())
        return file.changedSince ? TrustQuestion::tr("This program has changed since you allowed it to run")
                                 : TrustQuestion::tr("Run this program?");
    return file.changedSince ? TrustQuestion::tr("This model file has changed since you trusted it")
                             : TrustQuestion::tr("This training runs code from a file");
}

QString kindOf(const CodeFile& file)
{
    const QString size = formatBytes(static_cast<double>(file.bytes));
    return file.isProgram()            ? TrustQuestion::tr("a program, %1").arg(size)
           : file.workload == "plugin" ? TrustQuestion::tr("a plug-in (shared library), %1").arg(size)
                                       : TrustQuestion::tr("a TorchScript model, %1").arg(size);
}

} // namespace

TrustQuestion::TrustQuestion(const CodeFile& file, QWidget* parent) : QDialog(parent), m_file(file)
{
    setObjectName("trustQuestion");
    setWindowTitle(file.isProgram() ? tr("Run a program?") : tr("Run code from a file?"));
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(kWidth);
    auto* heading = makeTextLabel(headingOf(file), this);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    font.setPointSizeF(font.pointSizeF() * 1.25);
    heading->setFont(font);
    auto* why = makeTextLabel(
        (file.isProgram()                  ? tr("Stepscope starts this program to record or measure it. ")
         : file.path.extension() == ".pt2" ? tr("A compiled model is a program. ")
         : file.workload == "plugin"
             ? tr("A plug-in is a program. ")
             : tr("A TorchScript file is a program: it can do more than compute a model, and it runs as soon as it "
                  "is loaded. ")) +
            tr("It runs with your permissions and can read, change and delete your files. Run it only if you trust "
               "its source."),
        this);
    why->setObjectName("why");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 18, 20, 14);
    layout->setSpacing(12);
    layout->addWidget(heading);
    layout->addWidget(why);
    layout->addWidget(makeFacts(file));
    layout->addStretch(1);
    layout->addWidget(makeButtons());
    connect(this, &QDialog::finished, this, [this] { emit answered(m_answer); });
}

QWidget* TrustQuestion::makeFacts(const CodeFile& file)
{
    auto* facts = new QWidget(this);
    auto* form = new QFormLayout(facts);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    const QString path = QString::fromStdString(file.path.string());
    auto* shownPath = makeFact("path", breakable(path), facts);
    shownPath->setAccessibleName(path);
    auto* hash = makeFact("sha256", breakable(file.sha256), facts);
    hash->setAccessibleName(file.sha256);
    hash->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* copy = new QToolButton(facts);
    copy->setIcon(icon("copy"));
    copy->setAutoRaise(true);
    copy->setToolTip(tr("Copy the SHA-256"));
    copy->setAccessibleName(copy->toolTip());
    connect(copy, &QToolButton::clicked, this, [sha = file.sha256] { QApplication::clipboard()->setText(sha); });
    auto* hashLine = new QHBoxLayout;
    hashLine->addWidget(hash, 1);
    hashLine->addWidget(copy, 0, Qt::AlignTop);
    form->addRow(tr("What"), makeFact("what", kindOf(file), facts));
    if (file.isProgram()) {
        auto* command = makeFact("command", breakable(file.command), facts);
        command->setAccessibleName(file.command);
        command->setFont(hash->font());
        form->addRow(tr("Command"), command);
        form->addRow(tr("Directory"), makeFact("folder", breakable(file.folder), facts));
    }
    form->addRow(tr("File"), shownPath);
    form->addRow(tr("SHA-256"), hashLine);
    if (file.changedSince) {
        auto* changed = makeFact("changed",
                                 tr("Different content was trusted on %1.")
                                     .arg(QLocale().toString(*file.changedSince, QLocale::ShortFormat)),
                                 facts);
        setTextColor(changed, shades(QApplication::palette()).warning);
        form->addRow(tr("Changed"), changed);
    }
    return facts;
}

QWidget* TrustQuestion::makeButtons()
{
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 4, 0, 0);
    const auto add = [&](const char* name, const QString& text, const QString& what, TrustStore::Answer answer) {
        auto* button = new QPushButton(text, bar);
        button->setObjectName(name);
        button->setToolTip(what);
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, [this, answer] {
            m_answer = answer;
            done(answer == TrustStore::Answer::No ? Rejected : Accepted);
        });
        layout->addWidget(button);
        return button;
    };
    add("runOnce", tr("Run it once"), tr("Ask again at the next start"), TrustStore::Answer::Once);
    layout->addStretch(1);
    auto* cancel = add("cancel", tr("Cancel"), tr("Do not start it"), TrustStore::Answer::No);
    add("trust", tr("Trust and run"),
        m_file.isProgram() ? tr("Ask again only when the command or the file changes")
                           : tr("Ask again only when the file changes"),
        TrustStore::Answer::Trust);
    cancel->setDefault(true);
    cancel->setFocus();
    return bar;
}

} // namespace app
