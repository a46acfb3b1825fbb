#include "app/window/notice_strip.h"

#include "app/look/icon.h"
#include "app/look/notice_look.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QToolButton>

namespace app {

NoticeStrip::NoticeStrip(QWidget* parent)
    : QFrame(parent), m_what(new QLabel(this)), m_detail(new QPlainTextEdit(this)),
      m_more(makeButton("noticeMore", "expand", tr("Details"))), m_copy(makeButton("noticeCopy", "copy", tr("Copy"))),
      m_close(makeButton("noticeClose", "close", {}))
{
    setObjectName("notice");
    m_what->setObjectName("noticeText");
    m_what->setWordWrap(true);
    m_what->setTextFormat(Qt::PlainText);
    m_what->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_detail->setReadOnly(true);
    m_detail->setFrameShape(QFrame::NoFrame);
    m_detail->setTabChangesFocus(true);
    m_close->setToolTip(tr("Close this message"));
    m_close->setAccessibleName(m_close->toolTip());
    auto* line = new QHBoxLayout;
    line->addWidget(m_what, 1);
    for (QToolButton* button : {m_more, m_copy, m_close})
        line->addWidget(button, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kNoticeSignRoom, 5, 6, 5);
    layout->addLayout(line);
    layout->addWidget(m_detail);
    connect(m_more, &QToolButton::clicked, this, [this] { fold(m_detail->isVisibleTo(this)); });
    connect(m_copy, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(m_what->text() + "\n" + m_detail->toPlainText()); });
    connect(m_close, &QToolButton::clicked, this, &NoticeStrip::dismiss);
    hide();
}

QToolButton* NoticeStrip::makeButton(const QString& name, const QString& iconStem, const QString& text)
{
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    button->setText(text);
    button->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

QString NoticeStrip::text() const
{
    return m_what->text();
}
QString NoticeStrip::detail() const
{
    return m_detail->toPlainText();
}

void NoticeStrip::show(const QString& what, const QString& detail, bool isError)
{
    if (isVisibleTo(parentWidget()) && m_isError && !isError)
        return;
    m_isError = isError;
    m_what->setText(what);
    m_detail->setPlainText(detail);
    const auto lines = std::min<qsizetype>(8, detail.count('\n') + 2);
    m_detail->setFixedHeight(static_cast<int>(lines) * m_detail->fontMetrics().lineSpacing() + 10);
    m_more->setVisible(!detail.isEmpty());
    m_copy->setVisible(!detail.isEmpty());
    fold(true);
    setVisible(true);
    update();
}

void NoticeStrip::dismiss()
{
    hide();
    m_isError = false;
}

void NoticeStrip::fold(bool folded)
{
    m_detail->setVisible(!folded);
    m_more->setIcon(icon(folded ? "expand" : "collapse"));
}

void NoticeStrip::paintEvent(QPaintEvent*)
{
    const Shades tones = shades(palette());
    const QColor tone = m_isError ? tones.bad : tones.warning;
    QPainter painter(this);
    paintNotice(painter, *this, m_isError ? "error" : "info", tone);
}

} // namespace app
