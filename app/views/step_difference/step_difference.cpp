#include "app/document/step_parts.h"
#include "app/document/trace_pair.h"
#include "app/look/display_text.h"
#include "app/look/labels.h"
#include "app/tables/evidence_table.h"
#include "app/tables/slice_details.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <algorithm>
#include <chrono>

namespace app {

using profiler::ActivityKind;
using profiler::Nanoseconds;
using profiler::analysis::StepDifference;

namespace {

/// What differs between the current step of two traces that are shown side by side: phases, kernels, copies and
/// operators with their times in both. A row selects its longest slice.
class StepDifferencePanel : public QWidget {
public:
    StepDifferencePanel(TracePair* pair, QWidget* parent);

private:
    void showDifference();
    void showRow(const EvidenceRow& row);
    [[nodiscard]] QString whyEmpty() const;

    TracePair* m_pair;
    QStackedWidget* m_pages;
    QLabel *m_title, *m_empty;
    QComboBox* m_what;
    EvidenceTable* m_table;
};

constexpr auto kInSecond = "second"; ///< EvidenceRow::key of rows whose slice is in the second trace
constexpr double kSurroundings = 2;  ///< a slice is shown with this many times its duration on both sides

enum class Shown { All, Phases, DeviceWork, Operators };

bool isShown(const StepDifference::Row& row, Shown shown)
{
    switch (shown) {
    case Shown::All:
        break;
    case Shown::Phases:
        return row.kind == ActivityKind::Phase;
    case Shown::DeviceWork:
        return isDeviceWork(row.kind);
    case Shown::Operators:
        return row.kind == ActivityKind::CpuOp;
    }
    return true;
}

QString kindWord(ActivityKind kind)
{
    switch (kind) {
    case ActivityKind::Phase:
        return StepDifferencePanel::tr("phase");
    case ActivityKind::CpuOp:
        return StepDifferencePanel::tr("operator");
    case ActivityKind::GpuMemcpy:
        return StepDifferencePanel::tr("copy");
    case ActivityKind::GpuMemset:
        return StepDifferencePanel::tr("memset");
    default:
        return StepDifferencePanel::tr("kernel");
    }
}

QString nameOf(const StepDifference::Row& row)
{
    if (row.kind != ActivityKind::Phase)
        return shortName(row.name);
    for (const StepPart& part : kStepParts)
        if (part.phase == row.name || (part.phase.empty() && row.name == "other"))
            return stepPartName(part);
    return QString::fromStdString(row.name);
}

SliceClass swatchOf(const StepDifference::Row& row)
{
    for (const StepPart& part : kStepParts)
        if (row.kind == ActivityKind::Phase && part.phase == row.name)
            return part.which;
    return row.kind == ActivityKind::Phase ? SliceClass::Other : classify(row.kind, row.name);
}

EvidenceRow rowOf(const StepDifference::Row& row)
{
    const auto time = [](Nanoseconds ns, std::int64_t count) {
        return EvidenceCell{count > 0 ? formatDuration(ns) : QStringLiteral("–"), static_cast<double>(ns.count())};
    };
    const Nanoseconds change = row.change();
    QString text = change.count() == 0 ? QStringLiteral("0")
                                       : (change.count() < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) +
                                             formatDuration(std::chrono::abs(change));
    if (row.isNew())
        text = StepDifferencePanel::tr("new  %1").arg(text);
    else if (row.isGone())
        text = StepDifferencePanel::tr("gone  %1").arg(text);
    EvidenceRow shown;
    shown.cells = {{QStringLiteral("%1  ·  %2").arg(nameOf(row), kindWord(row.kind)), 0,
                    row.kind == ActivityKind::Phase
                        ? QString()
                        : QStringLiteral("%1  ·  %2").arg(QString::fromStdString(row.name), kindWord(row.kind))},
                   time(row.a, row.countA),
                   time(row.b, row.countB),
                   {text, static_cast<double>(change.count())}};
    shown.swatch = swatchOf(row);
    shown.evidence.slice = row.longestA ? row.longestA : row.longestB;
    if (!row.longestA)
        shown.key = kInSecond;
    return shown;
}

} // namespace

StepDifferencePanel::StepDifferencePanel(TracePair* pair, QWidget* parent)
    : QWidget(parent), m_pair(pair), m_pages(new QStackedWidget(this)), m_title(makeTextLabel("differenceTitle", this)),
      m_empty(makeEmptyLabel("differenceEmpty", m_pages)), m_what(new QComboBox(this)),
      m_table(new EvidenceTable({{tr("What differs"), false}, {tr("A"), true}, {tr("B"), true}, {tr("Change"), true}},
                                tr("Differences of the step"), m_pages))
{
    QFont bold = m_title->font();
    bold.setWeight(QFont::DemiBold);
    m_title->setFont(bold);
    m_table->setObjectName("differenceTable");
    m_what->setObjectName("differenceOf");
    m_what->setAccessibleName(tr("What is compared"));
    m_what->addItem(tr("All"), int(Shown::All));
    m_what->addItem(tr("Phases"), int(Shown::Phases));
    m_what->addItem(tr("Kernels and copies"), int(Shown::DeviceWork));
    m_what->addItem(tr("Operators"), int(Shown::Operators));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(8, 0, 6, 0);
    row->addWidget(m_title, 1);
    row->addWidget(m_what);
    column->addLayout(row);
    column->addWidget(m_pages, 1);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(m_table);
    setFocusProxy(m_table);
    connect(pair, &TracePair::differenceChanged, this, &StepDifferencePanel::showDifference);
    connect(pair, &TracePair::changed, this, [this] {
        if (!m_pair->difference())
            showDifference(); // why there is none
    });
    connect(m_what, &QComboBox::activated, this, &StepDifferencePanel::showDifference);
    connect(m_table, &EvidenceTable::rowActivated, this, &StepDifferencePanel::showRow);
    showDifference();
}

QString StepDifferencePanel::whyEmpty() const
{
    if (!m_pair->isOpen())
        return tr("Open a second trace to see what differs in each step: choose File › Open beside, or drop a trace "
                  "file on the window.");
    for (const Side side : {Side::First, Side::Second}) {
        const TraceDocument* document = m_pair->document(side);
        if (!document->whyNotAnalysed().isEmpty())
            return document->whyNotAnalysed();
        if (!document->analysed() || document->analysed()->trace != document->trace())
            return tr("The steps of both traces are listed when they have been read.");
        if (m_pair->steps(side).empty())
            return tr("%1 has no steps. Choose a step range in Summary.").arg(document->title());
    }
    const auto a = m_pair->step(Side::First), b = m_pair->step(Side::Second);
    if (a && !b)
        return tr("Step %1 of A has no counterpart in B.").arg(m_pair->steps(Side::First)[*a].index);
    if (b && !a)
        return tr("Step %1 of B has no counterpart in A.").arg(m_pair->steps(Side::Second)[*b].index);
    return a ? tr("Comparing…") : tr("Select a step, or anything within one, in either timeline.");
}

void StepDifferencePanel::showDifference()
{
    const auto& difference = m_pair->difference();
    m_title->setVisible(difference != nullptr);
    m_what->setVisible(difference != nullptr);
    m_pages->setCurrentWidget(difference ? static_cast<QWidget*>(m_table) : m_empty);
    if (!difference) {
        m_empty->setText(whyEmpty());
        return;
    }
    const auto& a = difference->stepA;
    const auto& b = difference->stepB;
    const Nanoseconds change = b.range.duration() - a.range.duration();
    m_title->setText(QStringLiteral("%1: %2%3")
                         .arg(a.index == b.index ? tr("Step %1").arg(a.index)
                                                 : tr("Step %1 of A, step %2 of B").arg(a.index).arg(b.index),
                              change.count() < 0 ? QString(QChar(0x2212)) : QStringLiteral("+"),
                              formatDuration(std::chrono::abs(change))));
    std::vector<EvidenceRow> rows;
    for (const StepDifference::Row& row : difference->rows)
        if (isShown(row, Shown(m_what->currentData().toInt())))
            rows.push_back(rowOf(row));
    m_table->setRows(std::move(rows));
}

void StepDifferencePanel::showRow(const EvidenceRow& row)
{
    const TraceDocument* document = m_pair->document(row.key == QLatin1String(kInSecond) ? Side::Second : Side::First);
    if (!document || !row.evidence.slice || !holds(*document->trace(), *row.evidence.slice))
        return;
    const profiler::Slice slice = document->trace()->slice(*row.evidence.slice);
    const auto around =
        Nanoseconds{static_cast<std::int64_t>(static_cast<double>(slice.duration.count()) * kSurroundings)};
    document->selection()->selectSlice(slice.id);
    document->selection()->show({slice.begin - around, slice.end() + around}, slice.id.track);
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new StepDifferencePanel(&bench.pair, parent);
}

} // namespace

View step_difference()
{
    return {QCoreApplication::translate("views", "Step difference"), ViewArea::Right, 95, create};
}

} // namespace app::views
