#include "app/record/record_dialog.h"

#include "advisor/runner/shell_words.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/record/record_settings.h"
#include "app/services/job_guard.h"
#include "app/services/trust_store.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QShowEvent>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <type_traits>

namespace app {

namespace {

constexpr int kCheckAfterMs = 400; ///< a typing pause, so that an unfinished word is not reported as an error
constexpr int kMostLines = 20'000; ///< lines of output to keep
constexpr double kLongestSeconds = 1e6;
constexpr int kMostSteps = 1'000'000;

struct Level {
    const char *name, *title, *records;
};
constexpr Level kLevels[] = {
    {"always", QT_TRANSLATE_NOOP("RecordDialog", "Kernels and copies only"),
     QT_TRANSLATE_NOOP("RecordDialog", "Kernels, copies, memsets, NVTX ranges and steps. Lowest overhead.")},
    {"standard", QT_TRANSLATE_NOOP("RecordDialog", "Standard"),
     QT_TRANSLATE_NOOP("RecordDialog",
                       "Kernels, copies, ranges and steps, plus the CUDA runtime calls that launched them and waits "
                       "for the GPU. Each call adds a little overhead.")},
    {"full", QT_TRANSLATE_NOOP("RecordDialog", "Everything"),
     QT_TRANSLATE_NOOP("RecordDialog",
                       "Standard plus driver calls, memory, and shapes of PyTorch's operators. Highest overhead.")},
};

QDoubleSpinBox* makeSeconds(const QString& name, double least, double value, const QString& called, QWidget* parent)
{
    auto* box = new QDoubleSpinBox(parent);
    box->setObjectName(name);
    box->setRange(least, kLongestSeconds);
    box->setDecimals(1);
    box->setSuffix(RecordDialog::tr(" s"));
    box->setValue(value);
    box->setAccessibleName(called);
    return box;
}

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

// Layout.

void RecordDialog::makeCommand(QWidget* parent)
{
    m_command = new QComboBox(parent);
    m_command->setObjectName("command");
    m_command->setEditable(true);
    m_command->setInsertPolicy(QComboBox::NoInsert);
    m_command->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_command->setMinimumContentsLength(20);
    m_command->lineEdit()->setPlaceholderText("python train.py --epochs 1");
    m_command->lineEdit()->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_command->completer()->setCaseSensitivity(Qt::CaseSensitive);
    m_command->setAccessibleName(tr("Command"));
    m_command->setToolTip(tr("The program and its arguments, as in a terminal"));
    connect(m_command->lineEdit(), &QLineEdit::returnPressed, this, &RecordDialog::start);
    // A context menu of the list, because a command may contain a password that must be removable.
    m_command->lineEdit()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_command->lineEdit(), &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        const std::unique_ptr<QMenu> menu(m_command->lineEdit()->createStandardContextMenu());
        menu->addSeparator();
        menu->addAction(tr("Clear earlier commands"), this, &RecordDialog::forgetHistory);
        menu->exec(m_command->lineEdit()->mapToGlobal(at));
    });
    m_options = new QToolButton(parent);
    m_options->setObjectName("options");
    m_options->setText(tr("Options"));
    m_options->setToolTip(tr("Command-line options of the program"));
    m_options->setPopupMode(QToolButton::InstantPopup);
    m_options->setFocusPolicy(Qt::StrongFocus);
    auto* menu = new QMenu(m_options);
    menu->setObjectName("optionsMenu");
    menu->setToolTipsVisible(true);
    m_options->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, &RecordDialog::fillOptions);
}

void RecordDialog::fillHistory(const QString& first)
{
    m_command->clear();
    m_command->addItems(recordedCommands());
    m_command->setCurrentText(first);
}

void RecordDialog::forgetHistory()
{
    forgetCommands();
    fillHistory({});
}

/// Option to record operators in some steps only: in a long training, operators cost time and fill the trace.
QHBoxLayout* RecordDialog::makeWindows(QWidget* parent)
{
    const RecordSettings settings = recordSettings();
    const auto steps = [&](const char* name, int least, int value, const QString& called) {
        auto* box = new QSpinBox(parent);
        box->setObjectName(name);
        box->setRange(least, kMostSteps);
        box->setValue(value);
        box->setAccessibleName(called);
        return box;
    };
    m_windows = new QCheckBox(tr("Record operators in &some steps only:"), parent);
    m_windows->setObjectName("windows");
    m_windows->setToolTip(tr("In one window of steps near the start and then at regular intervals"));
    m_window = steps("window", 1, settings.window, tr("Steps whose operators are recorded"));
    m_every = steps("every", 1, settings.every, tr("Steps from one window to the next"));
    const auto enable = [this] {
        m_operators->setEnabled(m_python->isChecked());
        m_windows->setEnabled(m_python->isChecked() && m_operators->isChecked());
        for (QSpinBox* box : {m_window, m_every})
            box->setEnabled(m_windows->isEnabled() && m_windows->isChecked());
    };
    for (QCheckBox* box : {m_python, m_operators, m_windows})
        connect(box, &QCheckBox::toggled, this, enable);
    m_windows->setChecked(settings.windows);
    enable();
    auto* row = new QHBoxLayout;
    row->addWidget(m_windows);
    row->addWidget(m_window);
    row->addWidget(new QLabel(tr("out of every"), parent));
    row->addWidget(m_every);
    row->addStretch();
    return row;
}

void RecordDialog::addOptions(QFormLayout* form)
{
    const RecordSettings settings = recordSettings();
    m_level = new QComboBox(m_form);
    m_level->setObjectName("level");
    for (const Level& level : kLevels)
        m_level->addItem(tr(level.title), level.name);
    m_level->setCurrentIndex(std::max(0, m_level->findData(settings.level)));
    m_levelText = new QLabel(m_form);
    m_levelText->setWordWrap(true);
    m_levelText->setForegroundRole(QPalette::PlaceholderText);
    const auto describe = [this] {
        const QString text = tr(kLevels[m_level->currentIndex()].records);
        m_levelText->setText(text);
        m_level->setAccessibleDescription(text);
    };
    connect(m_level, &QComboBox::currentIndexChanged, this, describe);
    describe();

    m_part = new QCheckBox(tr("Only a &part, starting after"), m_form);
    m_part->setObjectName("part");
    m_after = makeSeconds("after", 0, settings.after, tr("Seconds until recording starts"), m_form);
    m_seconds = makeSeconds("seconds", 0.1, settings.seconds, tr("Seconds to record"), m_form);
    for (QDoubleSpinBox* box : {m_after, m_seconds}) {
        box->setEnabled(settings.part);
        connect(m_part, &QCheckBox::toggled, box, &QWidget::setEnabled);
    }
    m_part->setChecked(settings.part);
    auto* part = new QHBoxLayout;
    part->addWidget(m_part);
    part->addWidget(m_after);
    part->addWidget(new QLabel(tr("for"), m_form));
    part->addWidget(m_seconds);
    part->addStretch();

    m_python = new QCheckBox(tr("P&ython steps, data loader waits and phases (no change to the script)"), m_form);
    m_python->setObjectName("python");
    m_operators = new QCheckBox(tr("PyTorch &operators (slows down small ones)"), m_form);
    m_operators->setObjectName("operators");
    m_python->setChecked(settings.python);
    m_operators->setChecked(settings.operators);

    auto* level = new QVBoxLayout;
    level->setSpacing(2);
    level->addWidget(m_level, 0, Qt::AlignLeft);
    level->addWidget(m_levelText);
    auto* levelLabel = new QLabel(tr("&Detail level"), m_form);
    levelLabel->setBuddy(m_level);
    form->addRow(levelLabel, level);
    form->addRow(tr("When"), part);
    form->addRow(tr("Python"), m_python);
    form->addRow(QString(), m_operators);
    form->addRow(QString(), makeWindows(m_form));
}

void RecordDialog::makeOutput()
{
    m_output = new QPlainTextEdit(this);
    m_output->setObjectName("output");
    m_output->setReadOnly(true);
    m_output->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_output->setMaximumBlockCount(kMostLines);
    m_output->setPlaceholderText(tr("Command output"));
    m_output->setAccessibleName(tr("Command output"));
    m_output->setTabChangesFocus(true);
    m_state = new QLabel(this);
    m_state->setObjectName("state");
    m_detail = new QLabel(this);
    m_detail->setObjectName("detail");
    m_detail->setForegroundRole(QPalette::PlaceholderText);
    for (QLabel* label : {m_state, m_detail}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
}

QHBoxLayout* RecordDialog::makeButtons()
{
    m_start = new QPushButton(tr("&Record"), this);
    m_start->setObjectName("record");
    m_start->setProperty("primary", true);
    m_start->setAutoDefault(false); // pressing Return in the command field already starts the recording
    m_stop = new QPushButton(this);
    m_stop->setObjectName("stopRecording");
    m_stop->setAutoDefault(false);
    auto* close = new QPushButton(tr("Close"), this);
    close->setAutoDefault(false);
    close->setToolTip(tr("Recording in progress"));
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    for (QPushButton* button : {m_start, m_stop, close})
        buttons->addWidget(button);
    return buttons;
}

void RecordDialog::makeForm()
{
    m_form = new QWidget(this);
    makeCommand(m_form);
    m_folder = new QLineEdit(recordSettings().folder, m_form);
    m_folder->setObjectName("folder");
    m_folder->setPlaceholderText(tr("your home folder"));
    m_folder->setAccessibleName(tr("Working directory of the command"));
    auto* choose = new QToolButton(m_form);
    choose->setIcon(icon("folder"));
    choose->setToolTip(tr("Choose folder"));
    choose->setAccessibleName(choose->toolTip());
    choose->setFocusPolicy(Qt::StrongFocus);
    connect(choose, &QToolButton::clicked, this, &RecordDialog::chooseFolder);
    auto* folder = new QHBoxLayout;
    folder->addWidget(m_folder, 1);
    folder->addWidget(choose);
    m_environment = new QPlainTextEdit(recordSettings().environment, m_form);
    m_environment->setObjectName("environment");
    m_environment->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_environment->setPlaceholderText(tr("NAME=VALUE, one per line"));
    m_environment->setAccessibleName(tr("Environment: variables for the command, one NAME=VALUE per line"));
    m_environment->setTabChangesFocus(true);
    m_environment->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_environment->setFixedHeight(3 * m_environment->fontMetrics().lineSpacing() + 12);
    const auto makeError = [this](const char* name) {
        auto* label = new QLabel(m_form);
        label->setObjectName(name);
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->hide();
        return label;
    };
    m_commandError = makeError("commandError");
    m_folderError = makeError("folderError");
    m_environmentError = makeError("environmentError");
    const auto checkSoon = [this] { m_checkSoon.start(); };
    connect(m_command, &QComboBox::editTextChanged, this, checkSoon);
    connect(m_folder, &QLineEdit::textChanged, this, checkSoon);
    connect(m_environment, &QPlainTextEdit::textChanged, this, checkSoon);
    auto* form = new QFormLayout(m_form);
    form->setContentsMargins(0, 0, 0, 0);
    form->setLabelAlignment(Qt::AlignLeft);
    auto* commandLabel = new QLabel(tr("&Command"), m_form);
    commandLabel->setBuddy(m_command);
    auto* folderLabel = new QLabel(tr("Working &directory"), m_form);
    folderLabel->setBuddy(m_folder);
    auto* environmentLabel = new QLabel(tr("&Environment"), m_form);
    environmentLabel->setBuddy(m_environment);
    const auto addRow = [&](QLabel* label, auto* field, QLabel* error) {
        auto* column = new QVBoxLayout;
        column->setSpacing(2);
        if constexpr (std::is_convertible_v<decltype(field), QWidget*>)
            column->addWidget(field);
        else
            column->addLayout(field);
        column->addWidget(error);
        form->addRow(label, column);
    };
    auto* command = new QHBoxLayout;
    command->addWidget(m_command, 1);
    command->addWidget(m_options);
    addRow(commandLabel, command, m_commandError);
    addRow(folderLabel, folder, m_folderError);
    addRow(environmentLabel, m_environment, m_environmentError);
    addOptions(form);

    makeOutput();
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(10);
    layout->addWidget(m_form);
    layout->addWidget(m_output, 1);
    layout->addWidget(m_state);
    layout->addWidget(m_detail);
    layout->addLayout(makeButtons());
    fillHistory({});
    // The window frame needs some of the screen.
    resize(QSize(680, 660).boundedTo(screen()->availableSize() - QSize(20, 40)));
}

} // namespace app
