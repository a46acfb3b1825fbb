#include "app/tables/table_bar.h"

#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/theme.h"

#include <QAction>
#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>

namespace app {

namespace {
constexpr int kTypingMs = 150; ///< wait for a typing pause, so that a word is one query
} // namespace

TableBar::TableBar(const QString& title, bool hasNames, QWidget* parent)
    : QWidget(parent), m_text(new QLineEdit(this)),
      m_pattern(makeToggle("tablePattern", "pattern", {}, tr("Use the filter as a regular expression"))),
      m_inRange(makeToggle("tableInRange", "range", {}, tr("Only in the selected range"))),
      m_grouped(makeToggle("tableGrouped", "group", tr("By name"), tr("One row per name, with counts and totals"))),
      m_cancel(new QToolButton(this)), m_problem(new QLabel(this)), m_count(new QLabel(this)),
      m_progress(new QProgressBar(this))
{
    m_text->setObjectName("tableFilter");
    m_text->setPlaceholderText(tr("Filter by name"));
    m_text->setAccessibleName(tr("Filter %1 by name").arg(title));
    m_text->setClearButtonEnabled(true);
    m_text->setMinimumWidth(80);
    m_text->setMaximumWidth(260);
    m_grouped->setChecked(hasNames);
    m_problem->setObjectName("tableProblem");
    m_problem->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // long text is elided instead of widening
                                                                            // the window
    m_problem->hide();
    m_count->setObjectName("tableCount");
    m_count->setForegroundRole(QPalette::PlaceholderText);
    m_cancel->setIcon(icon("close"));
    m_cancel->setAutoRaise(true);
    m_cancel->setToolTip(tr("Cancel"));
    m_cancel->setAccessibleName(tr("Cancel the work on %1").arg(title));
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(90, 8);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_text, m_pattern, m_grouped})
        widget->setVisible(hasNames);
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(8, 3, 6, 3);
    line->setSpacing(4);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_text, m_pattern, m_inRange, m_grouped})
        line->addWidget(widget);
    line->addWidget(m_problem, 1000); // takes all space from the stretch next to it
    line->addStretch(1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_progress, m_cancel, m_count})
        line->addWidget(widget);
    m_typed.setSingleShot(true);
    m_typed.setInterval(kTypingMs);
    connect(m_text, &QLineEdit::textChanged, &m_typed, qOverload<>(&QTimer::start));
    connect(&m_typed, &QTimer::timeout, this, &TableBar::checkPattern);
    connect(m_pattern, &QToolButton::toggled, this, &TableBar::checkPattern);
    connect(m_inRange, &QToolButton::toggled, this, &TableBar::filterChanged);
    connect(m_grouped, &QToolButton::toggled, this, &TableBar::groupedChanged);
    connect(m_cancel, &QToolButton::clicked, this, &TableBar::cancelled);
    setProgress(1);
    forgetFilter();
}

QToolButton* TableBar::makeToggle(const QString& name, const QString& iconStem, const QString& text,
                                  const QString& what)
{
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    button->setText(text);
    button->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    button->setCheckable(true);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setToolTip(what);
    button->setAccessibleName(what);
    return button;
}

TableFilter TableBar::filter() const
{
    TableFilter filter;
    filter.text = m_text->text();
    filter.pattern = m_pattern->isChecked();
    if (!patternProblem(filter).isEmpty())
        filter.text.clear();
    if (m_inRange->isChecked())
        filter.range = m_range;
    return filter;
}

void TableBar::checkPattern()
{
    TableFilter typed;
    typed.text = m_text->text();
    typed.pattern = m_pattern->isChecked();
    const QString problem = patternProblem(typed);
    m_problem->setText(tr("invalid pattern: %1").arg(problem));
    setTextColor(m_problem, shades(QApplication::palette()).bad);
    m_problem->setToolTip(problem);
    m_problem->setVisible(!problem.isEmpty());
    emit filterChanged();
}

void TableBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        setTextColor(m_problem, shades(QApplication::palette()).bad);
}

bool TableBar::grouped() const
{
    return m_grouped->isChecked();
}

void TableBar::setGrouped(bool grouped)
{
    m_grouped->setChecked(grouped);
}

void TableBar::setFilterText(const QString& text, bool pattern)
{
    m_pattern->setChecked(pattern);
    m_text->setText(text);
    m_typed.stop();
    checkPattern();
}

void TableBar::focusFilter()
{
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

void TableBar::setRange(profiler::TimeRange range)
{
    if (m_range == range)
        return;
    m_range = range;
    m_inRange->setEnabled(true);
    m_inRange->setToolTip(tr("Only in the selected range of %1").arg(formatDuration(range.duration())));
    if (m_inRange->isChecked())
        emit filterChanged();
}

void TableBar::forgetFilter()
{
    setFilterText({}, false);
    m_range.reset();
    m_inRange->setChecked(false);
    m_inRange->setEnabled(false);
    m_inRange->setToolTip(tr("Only in the selected range. Drag on the timeline ruler to select one."));
}

void TableBar::setCount(const QString& text)
{
    m_count->setText(text);
}

void TableBar::setProgress(double share)
{
    m_progress->setValue(static_cast<int>(1000 * share));
    m_progress->setVisible(share < 1);
    m_cancel->setVisible(share < 1);
}

void TableBar::addActionButtons(const QList<QAction*>& actions)
{
    for (QAction* action : actions) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::StrongFocus);
        button->setAccessibleName(action->text().remove('&'));
        layout()->addWidget(button);
    }
}

void TableBar::addMenu(const QString& accessibleName, const QString& iconStem, const QList<QAction*>& actions)
{
    auto* button = new QToolButton(this);
    auto* menu = new QMenu(button);
    menu->addActions(actions);
    button->setMenu(menu);
    button->setIcon(icon(iconStem));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setToolTip(accessibleName);
    button->setAccessibleName(accessibleName);
    layout()->addWidget(button);
}

} // namespace app
