#include "app/services/panel_work.h"

#include "app/look/icon.h"
#include "app/look/labels.h"

#include <QLabel>
#include <QProgressBar>
#include <QStackedWidget>
#include <QToolButton>
#include <utility>

namespace app {

namespace {
constexpr int kProgressSteps = 1000;
} // namespace

PanelWork::PanelWork(QWidget* panel, const QString& name, QString cancelled, std::function<void()> start)
    : m_cancelled(std::move(cancelled)), m_start(std::move(start)), m_pages(new QStackedWidget(panel)),
      m_text(makeEmptyLabel(name + QStringLiteral("Empty"), m_pages)), m_progress(new QProgressBar(panel)),
      m_cancel(new QToolButton(panel)), m_front(panel), m_work(this)
{
    m_pages->addWidget(m_text);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(60, 8);
    m_cancel->setObjectName(name + QStringLiteral("Cancel"));
    m_cancel->setIcon(icon("close"));
    m_cancel->setAutoRaise(true);
    m_cancel->setToolTip(tr("Cancel"));
    m_cancel->setAccessibleName(m_cancel->toolTip());
    showBusy();
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        abandon();
        m_outdated = true; // it starts over when the panel comes to the front again
        show(m_cancelled);
    });
    connect(&m_front, &VisibilityWatcher::cameToFront, this, [this] {
        if (m_outdated)
            this->start();
    });
}

void PanelWork::setContent(QWidget* content)
{
    m_pages->addWidget(content);
}

void PanelWork::request()
{
    m_outdated = true;
    if (m_front.isInFront())
        start();
}

void PanelWork::start()
{
    m_outdated = false;
    m_start();
}

void PanelWork::run(Background::Work work, std::function<void(const profiler::Error&)> failed)
{
    m_busy = true;
    m_progress->setRange(0, 0);
    showBusy();
    m_work.start(std::move(work), [this, failed = std::move(failed)](const profiler::Error& error) {
        end();
        failed(error);
    });
}

void PanelWork::setProgress(double share)
{
    m_progress->setRange(0, kProgressSteps);
    m_progress->setValue(static_cast<int>(share * (kProgressSteps - 1))); // unfinished work never shows 100 %
}

void PanelWork::end()
{
    m_busy = false;
    showBusy();
}

void PanelWork::abandon()
{
    m_work.cancel();
    end();
}

void PanelWork::show(const QString& text)
{
    m_text->setText(text);
    m_pages->setCurrentIndex(text.isEmpty() ? 1 : 0);
    emit shown(text.isEmpty());
}

void PanelWork::showBusy()
{
    m_progress->setVisible(m_busy);
    m_cancel->setVisible(m_busy);
}

} // namespace app
