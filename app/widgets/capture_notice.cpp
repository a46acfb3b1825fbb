#include "app/widgets/capture_notice.h"

#include "app/models/slice_details.h"
#include "app/widgets/number_format.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

namespace app {

QString captureNotice(const profiler::CaptureStats& stats)
{
    const auto text = [](const char* source) { return QCoreApplication::translate("CaptureNotice", source); };
    QStringList sentences;
    if (stats.cut)
        sentences << text("The run ended without closing its trace: it was killed, or the disk is full. What was "
                          "written until then is shown; "
                          "the last moments may be missing.");
    if (stats.dropped > 0)
        sentences << text("%1 events were dropped, because they came faster than they could be written: gaps may not "
                          "be idle time. Record "
                          "fewer steps or a lower level.")
                         .arg(formatCount(static_cast<std::int64_t>(stats.dropped)));
    if (stats.unmatched > 0 && !stats.live)
        sentences << text("%1 events lack their begin or their launch and are left out.")
                         .arg(formatCount(static_cast<std::int64_t>(stats.unmatched)));
    for (const std::string& note : stats.notes)
        sentences << traceText(note);
    return sentences.join(u' ');
}

CaptureNotice::CaptureNotice(QWidget* parent) : QFrame(parent), m_text(new QLabel(this))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    setAccessibleName(tr("What this trace lacks"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 5, 6, 5);
    auto* sign = new QLabel(this);
    sign->setPixmap(style()->standardIcon(QStyle::SP_MessageBoxWarning).pixmap(16, 16));
    row->addWidget(sign, 0, Qt::AlignTop);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setForegroundRole(QPalette::ToolTipText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    row->addWidget(m_text, 1);
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Hide this notice"));
    close->setAccessibleName(close->toolTip());
    close->setForegroundRole(QPalette::ToolTipText);
    row->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QToolButton::clicked, this, [this] {
        m_hidden = m_text->text();
        hide();
    });
    hide();
}

void CaptureNotice::setStats(const profiler::CaptureStats& stats)
{
    const QString text = captureNotice(stats);
    m_text->setText(text);
    setVisible(!text.isEmpty() && text != m_hidden);
}

} // namespace app
