#include "app/record/record_dialog.h"

#include "advisor/runner/shell_words.h"
#include "app/document/trace_document.h"
#include "app/look/number_format.h"
#include "app/look/theme.h"
#include "app/record/record_settings.h"
#include "app/services/job_guard.h"
#include "app/services/trust_store.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollBar>
#include <QShowEvent>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>

// Behaviour of the dialog; its layout is in record_dialog_form.cpp.
namespace app {

namespace {

constexpr int kCheckAfterMs = 400; ///< a typing pause, so that an unfinished word is not reported as an error

} // namespace

RecordDialog::RecordDialog(RecordingService* recording, TrustStore* trust, const JobGuard* jobs,
                           TraceDocument* document, QWidget* parent)
    : QDialog(parent), m_recording(recording), m_trust(trust), m_jobs(jobs), m_document(document)
{
    setObjectName("recordDialog");
    setWindowTitle(tr("Record program"));
    makeForm();
    connect(m_start, &QPushButton::clicked, this, &RecordDialog::start);
    connect(m_stop, &QPushButton::clicked, this, &RecordDialog::stop);
    connect(m_recording, &RecordingService::output, this, &RecordDialog::take);
    connect(m_recording, &RecordingService::ended, this, &RecordDialog::finish);
    connect(m_recording, &RecordingService::started, this, [this] {
        update();
        emit recordingChanged();
    });
    m_checkSoon.setSingleShot(true);
    m_checkSoon.setInterval(kCheckAfterMs);
    connect(&m_checkSoon, &QTimer::timeout, this, [this] { static_cast<void>(checkedRequest(false)); });
    m_tick.setInterval(500);
    connect(&m_tick, &QTimer::timeout, this, &RecordDialog::update);
    connect(jobs, &JobGuard::changed, this, &RecordDialog::update);
    connect(document, &TraceDocument::traceOpened, this, &RecordDialog::takeOptionsOfTrace);
    connect(&m_help, &HelpRunner::ended, this, [this](const std::vector<CommandOption>& options) {
        if (!options.empty())
            rememberOptions(m_helpOf, options);
        say(options.empty() ? tr("The program listed no options.")
                            : tr("The program's options are listed under Options."),
            {}, false);
    });
    update();
}

void RecordDialog::stop()
{
    m_stopping = true;
    m_recording->stop();
    update();
}

void RecordDialog::stopForGood()
{
    m_leaving = true;
    stop();
}

void RecordDialog::showEvent(QShowEvent* event)
{
    QDialog::showEvent(event);
    if (event->spontaneous())
        return;
    update();
    if (!m_recording->isRunning())
        m_command->setFocus();
}

void RecordDialog::chooseFolder()
{
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Folder that the command runs in"), m_folder->text());
    if (!folder.isEmpty())
        m_folder->setText(folder);
}

std::vector<std::string> RecordDialog::environment() const
{
    std::vector<std::string> entries;
    for (const QString& line : m_environment->toPlainText().split('\n'))
        if (!line.trimmed().isEmpty())
            entries.push_back(line.trimmed().toStdString());
    return entries;
}

std::optional<RecordRequest> RecordDialog::checkedRequest(bool alsoEmpty)
{
    using Part = advisor::runner::LaunchProblem::Field;
    const QString line = m_command->currentText().trimmed();
    const QString folder = m_folder->text().isEmpty() ? QDir::homePath() : m_folder->text();
    const auto words = commandWords(line);
    auto problems = advisor::runner::checkLaunch(
        {words.value_or(std::vector<std::string>{"true"}), std::filesystem::path(folder.toStdString()), environment()});
    if (!words && (alsoEmpty || !line.isEmpty()))
        problems.push_back(
            {Part::Command, words.error().code, words.error().what, words.error().where, words.error().hint});
    showProblems(problems);
    if (!words || !problems.empty())
        return std::nullopt;
    return RecordRequest{.command = *words,
                         .folder = folder,
                         .environment = environment(),
                         .level = m_level->currentData().toString(),
                         .operators = m_python->isChecked() && m_operators->isChecked(),
                         .python = m_python->isChecked(),
                         .operatorsEvery = m_windows->isChecked() ? m_every->value() : 0,
                         .operatorsWindow = m_window->value(),
                         .after = m_part->isChecked() ? m_after->value() : 0,
                         .seconds = m_part->isChecked() ? m_seconds->value() : 0};
}

void RecordDialog::showProblems(const std::vector<advisor::runner::LaunchProblem>& problems)
{
    using Part = advisor::runner::LaunchProblem::Field;
    const auto show = [&](QLabel* label, Part field) {
        const auto problem =
            std::find_if(problems.begin(), problems.end(), [&](const auto& p) { return p.field == field; });
        label->setVisible(problem != problems.end());
        if (problem == problems.end())
            return label->clear();
        QString text = QString::fromStdString(problem->what.text);
        text[0] = text[0].toUpper();
        while (text.endsWith('.'))
            text.chop(1);
        if (field == Part::Command && !problem->where.empty())
            text += ": " + QString::fromStdString(problem->where);
        QString hint = QString::fromStdString(problem->hint);
        if (!hint.isEmpty())
            hint[0] = hint[0].toUpper();
        label->setText(hint.isEmpty() ? text + '.' : text + ". " + hint + (hint.endsWith('.') ? "" : "."));
    };
    show(m_commandError, Part::Command);
    show(m_folderError, Part::Folder);
    show(m_environmentError, Part::Environment);
    colourState();
}

void RecordDialog::focusFirstProblem()
{
    if (m_commandError->isVisibleTo(this))
        m_command->setFocus();
    else if (m_folderError->isVisibleTo(this))
        m_folder->setFocus();
    else
        m_environment->setFocus();
}

void RecordDialog::start()
{
    if (!m_start->isEnabled())
        return;
    const QString line = m_command->currentText().trimmed();
    const auto checked = checkedRequest(true);
    if (!checked) {
        focusFirstProblem();
        return;
    }
    m_trust->passProgram(checked->command, checked->folder.toStdString(),
                         [dialog = QPointer(this), line, request = *checked] {
                             if (dialog)
                                 dialog->record(line, request);
                         });
}

/// Called after the user allowed the program.
void RecordDialog::record(const QString& line, const RecordRequest& request)
{
    if (m_jobs->isBusy())
        return;
    rememberCommand(line);
    rememberEnvironment(advisor::runner::commandLine(request.command), request.folder.toStdString(),
                        request.environment);
    keepRecordSettings({request.folder, m_environment->toPlainText(), request.level, m_part->isChecked(),
                        m_after->value(), m_seconds->value(), m_python->isChecked(), m_operators->isChecked(),
                        m_windows->isChecked(), m_every->value(), m_window->value()});
    fillHistory(line);
    m_output->clear();
    m_text = {};
    m_stopping = false;
    if (const auto started = m_recording->start(request); !started) {
        say(QString::fromStdString(started.error().what.text), QString::fromStdString(started.error().hint), true);
        return;
    }
    m_since.start();
    m_tick.start();
    update();
    if (m_stop->isEnabled())
        m_stop->setFocus();
}

/// The script or program that the command runs; empty if there is no command.
std::filesystem::path RecordDialog::script()
{
    const auto words = commandWords(m_command->currentText().trimmed());
    const QString folder = m_folder->text().isEmpty() ? QDir::homePath() : m_folder->text();
    return words ? codeOf(*words, folder.toStdString()).path : std::filesystem::path();
}

void RecordDialog::fillOptions()
{
    QMenu* menu = m_options->menu();
    menu->clear();
    const std::filesystem::path program = script();
    const auto options = program.empty() ? std::vector<CommandOption>() : rememberedOptions(program);
    for (const CommandOption& option : options) {
        QAction* action = menu->addAction(option.takes.isEmpty() ? option.name : option.name + ' ' + option.takes, this,
                                          [this, option] { insertOption(option); });
        action->setToolTip(option.help);
    }
    if (!options.empty())
        menu->addSeparator();
    if (parsesWithArgparse(program))
        menu->addAction(options.empty() ? tr("Ask the program for its options (--help)")
                                        : tr("Ask the program again (--help)"),
                        this, &RecordDialog::askForOptions);
    else if (options.empty())
        menu->addAction(program.empty() ? tr("Enter a command first") : tr("The options of this program are not known"))
            ->setEnabled(false);
}

void RecordDialog::askForOptions()
{
    const auto request = checkedRequest(true);
    if (!request || m_help.isRunning())
        return;
    m_trust->passProgram(request->command, request->folder.toStdString(),
                         [dialog = QPointer(this), request = *request] {
                             if (!dialog)
                                 return;
                             dialog->m_helpOf = dialog->script();
                             dialog->say(tr("Asking the program for its options…"), {}, false);
                             dialog->m_help.run(request);
                         });
}

/// Appends the option to the command and selects its value.
void RecordDialog::insertOption(const CommandOption& option)
{
    QLineEdit* line = m_command->lineEdit();
    const QString before = line->text().trimmed() + ' ' + option.name;
    line->setText(option.takes.isEmpty() ? before : before + ' ' + option.takes);
    line->setFocus();
    if (!option.takes.isEmpty())
        line->setSelection(static_cast<int>(before.size()) + 1, static_cast<int>(option.takes.size()));
}

/// A recording contains the options that its program declared.
void RecordDialog::takeOptionsOfTrace()
{
    const auto& metadata = m_document->trace()->metadata();
    const auto command = metadata.find("record.command"), folder = metadata.find("record.directory");
    if (command == metadata.end() || folder == metadata.end())
        return;
    const auto words = advisor::runner::shellWords(command->second);
    const auto options = optionsOfTrace(*m_document->trace());
    if (!words || options.empty())
        return;
    const std::filesystem::path program = codeOf(*words, folder->second).path;
    if (rememberedOptions(program).empty()) // --help has more details
        rememberOptions(program, options);
}

void RecordDialog::take(const QString& output)
{
    auto* bar = m_output->verticalScrollBar();
    const bool atEnd = bar->value() == bar->maximum(); // do not scroll if the user has scrolled up
    const OutputText::Change change = m_text.take(output);
    QTextCursor cursor(m_output->document());
    cursor.movePosition(QTextCursor::End);
    cursor.setPosition(cursor.position() - static_cast<int>(change.erased), QTextCursor::KeepAnchor);
    cursor.insertText(change.added);
    if (atEnd)
        bar->setValue(bar->maximum());
}

void RecordDialog::finish(const RecordEnd& end)
{
    m_tick.stop();
    say(end.message, end.detail, end.failed);
    update();
    m_start->setFocus();
    emit recordingChanged();
    if (end.trace.empty() || m_leaving)
        return;
    m_document->openTrace(end.trace);
    if (!end.failed)
        hide();
}

void RecordDialog::say(const QString& what, const QString& detail, bool bad)
{
    m_state->setText(what);
    m_detail->setText(detail);
    m_detail->setVisible(!detail.isEmpty());
    m_bad = bad;
    colourState();
}

void RecordDialog::colourState()
{
    for (QLabel* label : {m_commandError, m_folderError, m_environmentError})
        setTextColor(label, shades(palette()).bad);
    if (m_bad)
        setTextColor(m_state, shades(palette()).bad);
    else
        m_state->setPalette({});
}

void RecordDialog::changeEvent(QEvent* event)
{
    QDialog::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_state)
        colourState();
}

void RecordDialog::update()
{
    const bool running = m_recording->isRunning();
    const QString busy = running ? QString() : m_jobs->whyBusy();
    m_form->setEnabled(!running);
    m_start->setEnabled(!running && busy.isEmpty());
    m_start->setVisible(!running);
    m_stop->setVisible(running);
    m_stop->setText(m_stopping ? tr("Stop now") : tr("Stop"));
    m_start->setToolTip(busy.isEmpty() ? QString() : tr("%1 Running both would skew the results.").arg(busy));
    if (running) {
        const QString time = formatDuration(std::chrono::seconds(m_since.elapsed() / 1000));
        say(m_stopping ? tr("Stopping: waiting for the command to exit…") : tr("Recording · %1").arg(time), {}, false);
    } else if (m_state->text().isEmpty()) {
        say(tr("The command's output appears here while it runs. The trace opens when the command exits."), {}, false);
    }
}

} // namespace app
