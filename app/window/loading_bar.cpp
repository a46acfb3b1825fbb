#include "app/window/loading_bar.h"

#include "app/look/number_format.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <cmath>

namespace app {

LoadingBar::LoadingBar(QWidget* parent) : QWidget(parent), m_what(new QLabel(this)), m_bar(new QProgressBar(this))
{
    auto* cancel = new QPushButton(tr("Cancel"), this);
    cancel->setObjectName("cancelLoading");
    m_bar->setRange(0, 1000);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(10);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 6, 8, 6);
    layout->addWidget(m_what);
    layout->addWidget(m_bar, 1);
    layout->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, &LoadingBar::cancelled);
    hide();
}

void LoadingBar::show(const QString& what, double share)
{
    // Rounded down, so that unfinished work never reads 100 %.
    m_what->setText(QString("%1 · %2").arg(what, formatShare(std::floor(100 * share) / 100)));
    m_bar->setValue(static_cast<int>(1000 * share));
    setVisible(share < 1);
}

} // namespace app
