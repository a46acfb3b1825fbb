#include "app/findings/capture_notice.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"
#include "app/tables/slice_details.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace {
constexpr int kMostLines = 8; ///< lines of notes shown at once; the rest scrolls
} // namespace

Writer writerOf(const profiler::Trace& trace)
{
    return trace.format() == "stepscope" ? Writer::Stepscope : Writer::Other;
}

QString captureNotice(const profiler::CaptureStats& stats, Writer writer)
{
    const auto text = [](const char* source) { return QCoreApplication::translate("CaptureNotice", source); };
    const bool own = writer == Writer::Stepscope;
    QStringList sentences;
    if (stats.cut)
        sentences << (own ? text("The run ended without closing its trace: it was killed, or the disk is full. The "
                                 "last events may be missing.")
                          : text("The file is truncated: the program that wrote it was stopped, or the file is "
                                 "incomplete. The last events may be missing."));
    if (stats.dropped > 0) {
        const QString words = own ? text("%1 dropped because they arrived faster than they could be written. Gaps "
                                         "may not be idle time. Record fewer steps or choose a lower level.")
                                  : text("%1 lost during recording or could not be read. Gaps may not be idle time.");
        sentences << words.arg(
            formatCounted(static_cast<std::int64_t>(stats.dropped), text("event was"), text("events were")));
    }
    if (stats.unmatched > 0 && !stats.live)
        sentences << (stats.unmatched == 1 ? text("1 unmatched event: its start, end or launch is missing.")
                                           : text("%1 unmatched events: their start, end or launch is missing.")
                                                 .arg(formatCount(static_cast<std::int64_t>(stats.unmatched))));
    for (const profiler::Message& note : stats.notes)
        sentences << asQString(note.text);
    return sentences.join(u'\n');
}

CaptureNotice::CaptureNotice(QWidget* parent)
    : QFrame(parent), m_text(new QLabel(this)), m_close(makeButton("captureClose", "close", {})),
      m_more(makeButton("captureMore", "expand", {})), m_copy(makeButton("captureCopy", "copy", tr("Copy"))),
      m_rest(new QPlainTextEdit(this))
{
    setAccessibleName(tr("Missing data in this trace"));
    m_close->setToolTip(tr("Hide this notice"));
    m_close->setAccessibleName(m_close->toolTip());
    m_rest->setReadOnly(true);
    m_rest->setFrameShape(QFrame::NoFrame);
    m_rest->setTabChangesFocus(true);
    m_rest->setAccessibleName(tr("All missing data in this trace"));
    auto* row = new QHBoxLayout;
    m_text->setObjectName("captureText");
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    row->addWidget(m_text, 1);
    for (QToolButton* button : {m_more, m_copy, m_close})
        row->addWidget(button, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kNoticeSignRoom, 5, 6, 5);
    column->addLayout(row);
    column->addWidget(m_rest);
    connect(m_more, &QToolButton::clicked, this, [this] { fold(m_rest->isVisibleTo(this)); });
    connect(m_copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(m_all); });
    connect(m_close, &QToolButton::clicked, this, [this] {
        m_hidden = m_all;
        hide();
    });
    fold(true);
    hide();
}

void CaptureNotice::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintNotice(painter, *this, "warning", shades(palette()).warning);
}

QToolButton* CaptureNotice::makeButton(const QString& name, const QString& iconStem, const QString& text)
{
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    button->setText(text);
    button->setToolButtonStyle(name == QStringLiteral("captureClose") ? Qt::ToolButtonIconOnly
                                                                      : Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

void CaptureNotice::fold(bool folded)
{
    m_rest->setVisible(!folded);
    m_more->setIcon(icon(folded ? "expand" : "collapse"));
}

void CaptureNotice::setStats(const profiler::CaptureStats& stats, Writer writer)
{
    const QString all = captureNotice(stats, writer);
    if (all == m_all && !all.isEmpty())
        return;
    m_all = all;
    const QStringList lines = m_all.split(u'\n');
    m_text->setText(lines.front());
    const qsizetype more = lines.size() - 1;
    m_more->setText(more == 1 ? tr("1 more") : tr("%1 more").arg(formatCount(more)));
    m_more->setVisible(more > 0);
    m_rest->setPlainText(lines.mid(1).join(u'\n'));
    const int shown = static_cast<int>(std::min<qsizetype>(more, kMostLines));
    m_rest->setFixedHeight(shown * m_rest->fontMetrics().lineSpacing() + 12);
    fold(true);
    setVisible(!m_all.isEmpty() && m_all != m_hidden);
}

} // namespace app
