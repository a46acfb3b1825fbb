#include "app/tables/table_bar.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>
#include <algorithm>

namespace app {

namespace {
constexpr int kTypingMs = 150; ///< wait for a typing pause, so that a word is one query
} // namespace

TableBar::TableBar(TableSubject subject, QWidget* parent)
    : QWidget(parent), m_subject(std::move(subject)), m_text(new QLineEdit(this)), m_inRange(new QToolButton(this)),
      m_cancel(new QToolButton(this)), m_grouping(new QComboBox(this)), m_problem(new QLabel(this)),
      m_count(new QLabel(this)), m_progress(new QProgressBar(this))
{
    m_text->setObjectName("tableFilter");
    m_text->setPlaceholderText(m_subject.hasNames() ? tr("Filter: gemm dur>100us step:3") : tr("Filter: dur>100ms"));
    m_text->setAccessibleName(tr("Filter %1").arg(m_subject.title));
    m_text->setClearButtonEnabled(true);
    m_text->addAction(icon("search"), QLineEdit::LeadingPosition);
    m_text->setMinimumWidth(200); // a problem next to it must not hide what was typed
    m_text->setMaximumWidth(380);
    m_inRange->setObjectName("tableInRange");
    m_inRange->setIcon(icon("range"));
    m_inRange->setCheckable(true);
    m_inRange->setAutoRaise(true);
    m_inRange->setFocusPolicy(Qt::StrongFocus);
    m_inRange->setAccessibleName(tr("Only in the selected time"));
    m_grouping->setObjectName("tableGrouping");
    m_grouping->setAccessibleName(tr("Group %1").arg(m_subject.title));
    m_grouping->setToolTip(tr("One row per group, with counts and totals, or one row per slice"));
    m_grouping->setVisible(m_subject.hasNames());
    m_problem->setObjectName("tableProblem");
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // long text is elided instead of widening
                                                                            // the window
    m_problem->hide();
    m_count->setObjectName("tableCount");
    m_count->setForegroundRole(QPalette::PlaceholderText);
    m_cancel->setIcon(icon("close"));
    m_cancel->setAutoRaise(true);
    m_cancel->setToolTip(tr("Cancel"));
    m_cancel->setAccessibleName(tr("Cancel the work on %1").arg(m_subject.title));
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(90, 8);
    fillGroupings();
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(8, 3, 6, 3);
    line->setSpacing(4);
    line->addWidget(m_text, 2);
    line->addWidget(m_inRange);
    line->addWidget(m_grouping);
    line->addWidget(m_problem, 1000); // takes all space from the stretch next to it
    line->addStretch(1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_progress, m_cancel, m_count})
        line->addWidget(widget);
    m_typed.setSingleShot(true);
    m_typed.setInterval(kTypingMs);
    connect(m_text, &QLineEdit::textChanged, &m_typed, qOverload<>(&QTimer::start));
    connect(&m_typed, &QTimer::timeout, this, &TableBar::checkFilter);
    connect(m_inRange, &QToolButton::toggled, this, &TableBar::filterChanged);
    connect(m_grouping, &QComboBox::currentIndexChanged, this, [this] {
        checkFilter(); // groups have more fields
        emit groupingChanged();
    });
    connect(m_cancel, &QToolButton::clicked, this, &TableBar::cancelled);
    setProgress(1);
    forgetFilter();
}

void TableBar::fillGroupings()
{
    m_groupings = m_subject.groupings;
    m_groupings.emplace_back();
    for (const TableGrouping& grouping : m_groupings) {
        QStringList titles;
        for (const Field field : grouping)
            titles << fieldInfo(field).title.toLower();
        m_grouping->addItem(grouping.empty() ? tr("Not grouped") : tr("By %1").arg(titles.join(tr(" and "))));
    }
}

profiler::Result<Filter> TableBar::parsed() const
{
    return parseFilter(m_text->text(), filterFieldsOf(m_subject, grouping()));
}

TableFilter TableBar::filter() const
{
    TableFilter filter;
    if (auto conditions = parsed())
        filter.conditions = std::move(*conditions);
    if (m_inRange->isChecked())
        filter.range = m_range;
    return filter;
}

void TableBar::checkFilter()
{
    const auto conditions = parsed();
    const QString problem = conditions ? QString() : QString::fromStdString(conditions.error().message());
    m_problem->setText(problem);
    setTextColor(m_problem, shades(QApplication::palette()).bad);
    m_problem->setToolTip(problem);
    m_problem->setVisible(!problem.isEmpty());
    QStringList keywords;
    for (const FilterField& field : filterFieldsOf(m_subject, grouping()))
        keywords << field.keyword;
    m_text->setToolTip(tr("Terms separated by spaces. A row has to match all of them:\n"
                          "gemm \"a text\" /a pattern/ name=\"exact\" dur>100us step:3..5,9 -not\n"
                          "Fields: %1")
                           .arg(keywords.join(QStringLiteral(", "))));
    emit filterChanged();
}

void TableBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        setTextColor(m_problem, shades(QApplication::palette()).bad);
}

const TableGrouping& TableBar::grouping() const
{
    return m_groupings[static_cast<std::size_t>(std::max(0, m_grouping->currentIndex()))];
}

void TableBar::setGrouping(const TableGrouping& grouping)
{
    const auto found = std::find(m_groupings.begin(), m_groupings.end(), grouping);
    if (found != m_groupings.end())
        m_grouping->setCurrentIndex(static_cast<int>(found - m_groupings.begin()));
}

void TableBar::setFilterText(const QString& text)
{
    m_text->setText(text);
    m_typed.stop();
    checkFilter();
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
    m_inRange->setToolTip(tr("Only in the selected time of %1").arg(formatDuration(range.duration())));
    if (m_inRange->isChecked())
        emit filterChanged();
}

void TableBar::forgetFilter()
{
    setFilterText({});
    m_range.reset();
    m_inRange->setChecked(false);
    m_inRange->setEnabled(false);
    m_inRange->setToolTip(tr("Only in the selected time. Select a slice, a step or a range on the timeline."));
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

QMenu* TableBar::addMenu(const QString& accessibleName, const QString& iconStem, const QList<QAction*>& actions)
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
    return menu;
}

} // namespace app
