#include "app/window/remote_strip.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/services/remote_trace_service.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTextDocument>

namespace app {

RemoteStrip::RemoteStrip(RemoteTraceService* remote, QWidget* parent)
    : QWidget(parent), m_remote(remote), m_text(new ElidedLabel(this)),
      m_reconnect(new QPushButton(icon("again"), tr("Reconnect"), this)),
      m_analyse(new QPushButton(icon("measure"), tr("Analyse here"), this))
{
    setObjectName("remoteStrip");
    m_text->setObjectName("remoteText");
    m_text->setTextFormat(Qt::PlainText);
    m_reconnect->setObjectName("remoteReconnect");
    m_analyse->setObjectName("remoteAnalyse");
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 4, 8, 4);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_reconnect);
    layout->addWidget(m_analyse);
    connect(m_reconnect, &QPushButton::clicked, m_remote, &RemoteTraceService::reconnect);
    connect(m_analyse, &QPushButton::clicked, m_remote, &RemoteTraceService::analyseHere);
    connect(m_remote, &RemoteTraceService::changed, this, &RemoteStrip::showState);
    showState();
}

void RemoteStrip::showState()
{
    using State = RemoteTraceService::State;
    const State state = m_remote->state();
    setVisible(state != State::None);
    m_reconnect->setVisible(state == State::Lost);
    m_analyse->setVisible(state == State::Connected && !m_remote->isAnalysedHere());
    m_analyse->setToolTip(m_remote->secondsToTransfer() > 0
                              ? tr("Transfer the rest of the trace and analyse it on this machine: its steps, the "
                                   "summary and the other panels. The transfer takes about %1 at the measured speed.")
                                    .arg(formatUs(m_remote->secondsToTransfer() * 1e6))
                              : tr("Transfer the rest of the trace and analyse it on this machine: its steps, the "
                                   "summary and the other panels."));
    const QString amount = tr("%1 of %2 transferred")
                               .arg(formatBytes(static_cast<double>(m_remote->fetched())),
                                    formatBytes(static_cast<double>(m_remote->size())));
    QString text = tr("%1  ·  %2").arg(m_remote->place().text(), amount);
    if (state == State::Lost)
        text = tr("The connection to %1 was lost  ·  %2").arg(m_remote->place().host, amount);
    else if (state == State::Reconnecting)
        text = tr("Reconnecting to %1…  ·  %2").arg(m_remote->place().host, amount);
    else if (m_remote->isAdvising())
        text += tr("  ·  looking for findings on %1…").arg(m_remote->place().host);
    else if (m_remote->isAutomatic())
        text += tr("  ·  small: transferred completely and analysed here");
    m_text->setText(text);
    // Text from the other machine must not be interpreted as HTML.
    m_text->setToolTip(Qt::convertFromPlainText(state == State::Lost ? m_remote->whyLost() : m_remote->place().text()));
}

} // namespace app
