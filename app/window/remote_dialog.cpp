#include "app/window/remote_dialog.h"

#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr int kOverSsh = 0, kCommand = 1; ///< entries of the kinds

} // namespace

RemoteDialog::RemoteDialog(QWidget* parent)
    : QDialog(parent), m_recent(new QComboBox(this)), m_kind(new QComboBox(this)), m_host(new QComboBox(this)),
      m_path(new QLineEdit(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this))
{
    setObjectName("remoteDialog");
    setWindowTitle(tr("Open remote trace"));
    m_recent->setObjectName("remoteRecent");
    m_kind->setObjectName("remoteKind");
    m_host->setObjectName("remoteHost");
    m_path->setObjectName("remotePath");
    m_kind->addItems({tr("ssh"), tr("Command prefix")});
    m_host->setEditable(true);
    m_host->setMinimumContentsLength(40);
    m_host->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_path->setPlaceholderText(tr("/data/run.sstrace, or the folder of a job"));
    m_path->setToolTip(tr("A trace file, or the traces of a job: a folder, or a pattern such as traces/rank*.json. A "
                          "relative path starts in your home folder there, or with a command prefix in the folder "
                          "in which the command starts."));
    m_recent->addItem(tr("Choose…"));
    const QList<RemotePlace> recent = recentPlaces();
    for (const RemotePlace& place : recent)
        m_recent->addItem(place.text(), QStringList{place.isCommand ? "command" : "", place.host, place.path});
    auto* explanation = new QLabel(
        tr("The trace stays on the other machine. A small trace is transferred completely; of a large trace, only the "
           "parts that you look at. Stepscope connects with your ssh client and its configuration, keys and agent. On "
           "the first connection, it uploads its own program (20 MB) to ~/.cache/stepscope there."),
        this);
    explanation->setWordWrap(true);
    auto* form = new QFormLayout;
    form->addRow(tr("Recent"), m_recent);
    form->addRow(tr("Connect with"), m_kind);
    form->addRow(tr("Host or command prefix"), m_host);
    form->addRow(tr("Path on that machine"), m_path);
    form->setRowVisible(m_recent, !recent.isEmpty());
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(explanation);
    layout->addWidget(m_buttons);
    connect(m_recent, &QComboBox::activated, this, &RemoteDialog::takeRecent);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &RemoteDialog::showKind);
    connect(m_host, &QComboBox::editTextChanged, this, &RemoteDialog::update);
    connect(m_path, &QLineEdit::textChanged, this, &RemoteDialog::update);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_buttons, &QDialogButtonBox::accepted, this, [this] {
        emit chosen(place());
        accept();
    });
    showKind();
    m_host->setFocus();
}

RemotePlace RemoteDialog::place() const
{
    return {m_kind->currentIndex() == kCommand, m_host->currentText().trimmed(), m_path->text().trimmed()};
}

void RemoteDialog::takeRecent(int index)
{
    const QStringList parts = m_recent->itemData(index).toStringList();
    if (parts.size() != 3)
        return;
    m_kind->setCurrentIndex(parts[0].isEmpty() ? kOverSsh : kCommand);
    m_host->setEditText(parts[1]);
    m_path->setText(parts[2]);
}

/// Hosts of ssh's configuration, or examples of commands.
void RemoteDialog::showKind()
{
    const bool isCommand = m_kind->currentIndex() == kCommand;
    m_host->clear();
    m_host->addItems(isCommand
                         ? QStringList{"docker exec -i NAME", "srun --jobid N --overlap", "kubectl exec -i POD --"}
                         : knownHosts());
    m_host->clearEditText();
    m_host->lineEdit()->setPlaceholderText(isCommand ? tr("docker exec -i NAME") : tr("HOST, or USER@HOST"));
    update();
}

void RemoteDialog::update()
{
    const RemotePlace chosen = place();
    m_buttons->button(QDialogButtonBox::Open)->setEnabled(!chosen.host.isEmpty() && !chosen.path.isEmpty());
}

} // namespace app
