#include "app/record/record_dialog.h"

#include "app/look/number_format.h"
#include "app/look/theme.h"
#include "app/record/record_settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFontDatabase>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QShowEvent>
#include <QSpinBox>

// What the dialog does; how it is made is in record_dialog_form.cpp.
namespace app {

RecordDialog::RecordDialog(Session* session, QWidget* parent) : QDialog(parent), m_session(session)
{
    setObjectName("recordDialog");
    setWindowTitle(tr("Record a program"));
    makeForm();
    connect(m_start, &QPushButton::clicked, this, &RecordDialog::start);
    connect(m_stop, &QPushButton::clicked, this, &RecordDialog::stop);
    connect(&m_controller, &RecordController::output, this, &RecordDialog::take);
    connect(&m_controller, &RecordController::ended, this, &RecordDialog::finish);
    connect(&m_controller, &RecordController::started, this, [this] {
        update();
        emit recordingChanged();
    });
    m_tick.setInterval(500);
    connect(&m_tick, &QTimer::timeout, this, &RecordDialog::update);
    connect(session, &Session::busyChanged, this, &RecordDialog::update);
    update();
}

RecordDialog::~RecordDialog()
{
    m_session->disconnect(this);
    m_session->setRecording(false);
}

void RecordDialog::stop()
{
    m_stopping = true;
    m_controller.stop();
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
    if (!m_controller.isRunning())
        m_command->setFocus();
}

void RecordDialog::chooseFolder()
{
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Folder that the command runs in"), m_folder->text());
    if (!folder.isEmpty())
        m_folder->setText(folder);
}

void RecordDialog::start()
{
    if (!m_start->isEnabled())
        return;
    const QString line = m_command->currentText().trimmed();
    const auto words = commandWords(line);
    if (!words) {
        say(QString::fromStdString(words.error().what), QString::fromStdString(words.error().mend), true);
        m_command->setFocus();
        return;
    }
    const QString folder = m_folder->text().isEmpty() ? QDir::homePath() : m_folder->text();
    if (!QFileInfo(folder).isDir()) {
        say(tr("There is no such folder: %1").arg(folder), tr("Choose the one that the command is to run in."), true);
        m_folder->setFocus();
        return;
    }
    const RecordRequest request{.command = *words,
                                .folder = folder,
                                .level = m_level->currentData().toString(),
                                .operators = m_python->isChecked() && m_operators->isChecked(),
                                .python = m_python->isChecked(),
                                .operatorsEvery = m_windows->isChecked() ? m_every->value() : 0,
                                .operatorsWindow = m_window->value(),
                                .after = m_part->isChecked() ? m_after->value() : 0,
                                .seconds = m_part->isChecked() ? m_seconds->value() : 0};
    rememberCommand(line);
    keepRecordSettings({folder, request.level, m_part->isChecked(), m_after->value(), m_seconds->value(),
                        m_python->isChecked(), m_operators->isChecked(), m_windows->isChecked(), m_every->value(),
                        m_window->value()});
    fillHistory(line);
    m_output->clear();
    m_text = {};
    m_stopping = false;
    if (const auto started = m_controller.start(request); !started) {
        say(QString::fromStdString(started.error().what), QString::fromStdString(started.error().mend), true);
        return;
    }
    m_session->setRecording(m_controller.isRunning());
    m_since.start();
    m_tick.start();
    update();
    if (m_stop->isEnabled())
        m_stop->setFocus();
}

void RecordDialog::take(const QString& output)
{
    auto* bar = m_output->verticalScrollBar();
    const bool atEnd = bar->value() == bar->maximum(); // who reads further up stays there
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
    m_session->setRecording(false);
    say(end.message, end.detail, end.failed);
    update();
    m_start->setFocus();
    emit recordingChanged();
    if (end.trace.empty() || m_leaving)
        return;
    m_session->openTrace(end.trace);
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
    const bool running = m_controller.isRunning();
    const QString busy = running ? QString() : m_session->whyBusy();
    m_form->setEnabled(!running);
    m_start->setEnabled(!running && busy.isEmpty());
    m_start->setVisible(!running);
    m_stop->setVisible(running);
    m_stop->setText(m_stopping ? tr("Stop now") : tr("Stop"));
    m_start->setToolTip(busy.isEmpty() ? QString() : tr("%1 The two would slow each other down.").arg(busy));
    if (running) {
        const QString time = formatDuration(std::chrono::seconds(m_since.elapsed() / 1000));
        say(m_stopping ? tr("Stopping: the command was asked to end…") : tr("Recording · %1").arg(time), {}, false);
    } else if (m_state->text().isEmpty()) {
        say(tr("What the command writes is shown here while it runs. Its trace is opened when it has ended."), {},
            false);
    }
}

} // namespace app
