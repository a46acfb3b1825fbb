#include "app/timeline_tools/find_bar.h"

#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace app {

FindBar::FindBar(QWidget* parent) : QWidget(parent), m_text(new QLineEdit(this)), m_place(new QLabel(this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(4);
    m_text->setObjectName("timelineFind");
    m_text->setPlaceholderText(tr("Find a name on the timeline"));
    m_text->setAccessibleName(tr("Find a name on the timeline"));
    m_text->setClearButtonEnabled(true);
    m_text->addAction(icon("search"), QLineEdit::LeadingPosition);
    m_text->setMaximumWidth(420);
    m_text->installEventFilter(this);
    row->addWidget(m_text, 1);
    m_case = addButton(QStringLiteral("Aa"), tr("Match case (Alt+C)"));
    m_case->setShortcut(Qt::ALT | Qt::Key_C);
    m_regex = addButton(QStringLiteral(".*"), tr("Regular expression (Alt+X)"));
    m_regex->setShortcut(Qt::ALT | Qt::Key_X);
    for (QToolButton* toggle : {m_case, m_regex}) {
        toggle->setCheckable(true);
        connect(toggle, &QToolButton::toggled, this, &FindBar::patternChanged);
    }
    m_previous = addButton(QStringLiteral("‹"), tr("Previous (Shift+F3)"));
    m_next = addButton(QStringLiteral("›"), tr("Next (F3)"));
    connect(m_previous, &QToolButton::clicked, this, &FindBar::previous);
    connect(m_next, &QToolButton::clicked, this, &FindBar::next);
    m_place->setObjectName("timelineFindPlace");
    m_place->setTextFormat(Qt::PlainText);
    row->addWidget(m_place);
    row->addStretch(1);
    QToolButton* close = addButton({}, tr("Close (Esc)"));
    close->setIcon(icon("close"));
    connect(close, &QToolButton::clicked, this, &FindBar::closed);
    connect(m_text, &QLineEdit::textChanged, this, &FindBar::patternChanged);
    setAccessibleName(tr("Find"));
}

QToolButton* FindBar::addButton(const QString& text, const QString& tip)
{
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    layout()->addWidget(button);
    return button;
}

void FindBar::open()
{
    show();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

profiler::NamePattern FindBar::pattern() const
{
    return {m_text->text().toStdString(), m_regex->isChecked(), m_case->isChecked()};
}

void FindBar::say(const QString& text, bool error)
{
    m_place->setText(text);
    m_place->setToolTip(error ? text : QString());
    m_isError = error;
    colourPlace();
}

void FindBar::colourPlace()
{
    const Shades tones = shades(QApplication::palette());
    setTextColor(m_place, m_isError ? tones.bad : tones.muted);
}

void FindBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        colourPlace();
}

void FindBar::showSearching()
{
    m_number = 0;
    say(tr("searching…"));
}

void FindBar::showHits(const std::shared_ptr<const FindHits>& hits)
{
    m_count = hits ? hits->count : 0;
    for (QToolButton* button : {m_previous, m_next})
        button->setEnabled(m_count > 0);
    // New events of a growing trace come after the existing ones, so positions stay valid.
    if (hits && hits->search->trace()->captureStats().live && m_number > 0 && m_number <= m_count)
        return showPlace(m_number);
    m_number = 0;
    say(!hits          ? QString()
        : m_count == 0 ? tr("not found")
                       : tr("%1 found").arg(formatCount(static_cast<qint64>(m_count))));
}

void FindBar::showPlace(quint64 number)
{
    m_number = number;
    say(tr("%1 of %2").arg(formatCount(static_cast<qint64>(number)), formatCount(static_cast<qint64>(m_count))));
}

void FindBar::showError(const QString& message)
{
    say(message, true);
}

bool FindBar::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_text && event->type() == QEvent::ShortcutOverride) {
        // The timeline has actions with these keys, and the bar is inside its view.
        const int pressed = static_cast<QKeyEvent*>(event)->key();
        if (pressed == Qt::Key_Return || pressed == Qt::Key_Enter || pressed == Qt::Key_Escape) {
            event->accept();
            return true;
        }
    }
    if (watched == m_text && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            key->modifiers().testFlag(Qt::ShiftModifier) ? emit previous() : emit next();
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            emit closed();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace app
