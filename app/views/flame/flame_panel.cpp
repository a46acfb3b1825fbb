#include "app/views/flame/flame_panel.h"

#include "advisor/evidence/source_lines.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/save_dialog.h"
#include "app/tables/slice_details.h"
#include "app/views/flame/call_frames.h"
#include "app/views/flame/flame_graph.h"
#include "profiler/analysis/statistics.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QImage>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <tuple>

namespace app {

namespace analysis = profiler::analysis;
using analysis::CallGrouping;
using analysis::CallScope;
using analysis::CallTime;
using analysis::CallTree;
using analysis::CallTreeOptions;
using analysis::Step;

namespace {

constexpr int kBeforeName = 54;       ///< logical pixels: the arrow and the colour of a row
constexpr int kLeastNameLetters = 12; ///< in a narrow table
constexpr int kRestMs = 200;          ///< before a new selection is used
constexpr double kTreeShare = 0.95;   ///< of the work; the rest arranges the frames
constexpr double kSurroundings = 2;   ///< a slice is shown with this many times its duration on both sides

/// A tree to compute.
struct Part {
    std::shared_ptr<const profiler::Trace> trace;
    CallTreeOptions options;

    [[nodiscard]] bool isSame(const Part& other) const
    {
        return trace == other.trace && options.by == other.options.by && options.time == other.options.time &&
               options.scope.window == other.options.scope.window && options.stepRange == other.options.stepRange;
    }
};

QComboBox* addChoice(QLayout* layout, const char* name, const QString& accessible, const QStringList& entries)
{
    auto* choice = new QComboBox;
    choice->setObjectName(name);
    choice->setAccessibleName(accessible);
    choice->setToolTip(accessible);
    choice->addItems(entries);
    choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    choice->setMinimumWidth(44); // in a narrow window, the text is cut rather than the row
    layout->addWidget(choice);
    return choice;
}

QToolButton* makeButton(const char* iconName, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(icon(iconName));
    button->setAutoRaise(true);
    button->setToolTip(text);
    button->setAccessibleName(text);
    return button;
}

const Step& byDuration(const std::vector<Step>& steps, double share)
{
    std::vector<const Step*> sorted;
    for (const Step& step : steps)
        if (isSteady(step) || std::none_of(steps.begin(), steps.end(), analysis::isSteady))
            sorted.push_back(&step);
    std::sort(sorted.begin(), sorted.end(),
              [](const Step* a, const Step* b) { return a->range.duration() < b->range.duration(); });
    return *sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

} // namespace

struct FlamePanel::Plan {
    Part part;
    std::optional<Part> other;
    Order order = Order::TopDown;
    std::string name;
};

struct FlamePanel::Trees {
    Plan plan;
    std::shared_ptr<const CallTree> tree, other;
    std::shared_ptr<const CallFrames> frames;  ///< of the graph
    std::shared_ptr<const CallFrames> callers; ///< only with Order::Sandwich
    std::shared_ptr<const CallFrames> rows;    ///< of the table
};

FlamePanel::FlamePanel(const TraceDocument* document, QWidget* parent)
    : QWidget(parent), m_document(document),
      m_work(this, QStringLiteral("flame"), tr("Cancelled. Choose a part of the trace above to start again."),
             [this] { start(); })
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    m_work.setContent(makePage());
    layout->addWidget(m_work.pages(), 1);
    setMinimumSize(340, 100); // a window of 960 pixels leaves that much between the docks at its sides
    m_later.setSingleShot(true);
    m_later.setInterval(kRestMs);
    listOthers();
    connectDocument();
    addActions();
    m_work.request();
}

QWidget* FlamePanel::makeHeader()
{
    auto* header = new QWidget(this);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(8, 3, 6, 3);
    m_scope = addChoice(row, "flameScope", tr("Part of the trace"),
                        {tr("Whole trace"), tr("All steps"), tr("Selected step"), tr("Selection")});
    m_grouping =
        addChoice(row, "flameGrouping", tr("What a call is"), {tr("Operators"), tr("Python functions"), tr("Modules")});
    m_time = addChoice(row, "flameTime", tr("Time that is shown"), {tr("Host time"), tr("Device time")});
    m_order = addChoice(row, "flameOrder", tr("Order of the calls"), {tr("Top-down"), tr("Bottom-up"), tr("Sandwich")});
    m_order->setItemData(0, tr("Callers above their callees"), Qt::ToolTipRole);
    m_order->setItemData(1, tr("The callers of each call, by self time"), Qt::ToolTipRole);
    m_order->setItemData(2, tr("All callers and callees of one name"), Qt::ToolTipRole);
    m_other = addChoice(row, "flameOther", tr("Show the difference with another step or trace"), {});
    m_search = new QLineEdit(header);
    m_search->setObjectName("flameSearch");
    m_search->setPlaceholderText(tr("Find calls  ( / )"));
    m_search->setAccessibleName(tr("Find calls"));
    m_search->setClearButtonEnabled(true);
    m_search->setMinimumWidth(56);
    m_search->setMaximumWidth(240);
    m_found = new QLabel(header);
    m_found->setObjectName("flameFound");
    m_found->setForegroundRole(QPalette::PlaceholderText);
    m_found->setMinimumWidth(1);
    for (const auto& [name, text, toolTip, use] :
         {std::tuple("useAsA", tr("A"), tr("Use the selection as range A"), &FlamePanel::useSelectionAsA),
          std::tuple("useAsB", tr("B"), tr("Use the selection as range B: shows its difference with range A"),
                     &FlamePanel::useSelectionAsB)}) {
        auto* button = new QToolButton(header);
        button->setObjectName(name);
        button->setText(text);
        button->setAutoRaise(true);
        button->setToolTip(toolTip);
        button->setAccessibleName(toolTip);
        connect(button, &QToolButton::clicked, this, use);
        row->addWidget(button);
    }
    auto* out = makeButton("reset", tr("Zoom out (Esc)"), header);
    auto* save = makeButton("save", tr("Copy or save"), header);
    save->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(save);
    menu->addAction(icon("copy"), tr("Copy as text"), this, &FlamePanel::copyText);
    menu->addAction(tr("Copy as collapsed stacks"), this, [this] {
        if (m_trees)
            QApplication::clipboard()->setText(asQString(analysis::collapsedStacks(*m_trees->tree)));
    });
    menu->addAction(tr("Copy image"), this, [this] {
        QImage image(m_graph->fullSize() * devicePixelRatioF(), QImage::Format_RGB32);
        image.setDevicePixelRatio(devicePixelRatioF());
        QPainter painter(&image);
        m_graph->render(painter, m_graph->fullSize(), false);
        QApplication::clipboard()->setImage(image);
    });
    menu->addAction(icon("save"), tr("Save as SVG or PNG…"), this, &FlamePanel::saveImage);
    save->setMenu(menu);
    row->addWidget(m_search, 1);
    row->addWidget(m_found);
    row->addStretch(1);
    row->addWidget(m_work.progress());
    row->addWidget(m_work.cancelButton());
    row->addWidget(out);
    row->addWidget(save);
    for (QComboBox* choice : {m_scope, m_grouping, m_time, m_order})
        connect(choice, &QComboBox::activated, &m_work, &PanelWork::request);
    connect(m_other, &QComboBox::activated, this, &FlamePanel::chooseOther);
    connect(m_search, &QLineEdit::textChanged, this, &FlamePanel::showSearch);
    connect(m_search, &QLineEdit::returnPressed, this,
            [this] { m_graph->goToMatch(QApplication::keyboardModifiers() & Qt::ShiftModifier ? -1 : 1); });
    connect(out, &QToolButton::clicked, this, [this] { m_graph->zoomOut(); });
    connect(&m_work, &PanelWork::shown, this, [this](bool hasContent) {
        m_search->setEnabled(hasContent);
        m_found->setVisible(hasContent);
    });
    return header;
}

QWidget* FlamePanel::makePage()
{
    auto* sides = new QSplitter(Qt::Horizontal, m_work.pages());
    sides->setChildrenCollapsible(false);
    auto* graphs = new QSplitter(Qt::Vertical, sides);
    graphs->setChildrenCollapsible(false);
    m_callers = new FlameGraph(graphs);
    m_callers->setObjectName("flameCallers");
    m_callers->setAccessibleName(tr("Callers"));
    m_callers->setUpsideDown(true);
    m_callers->hide();
    m_graph = new FlameGraph(graphs);
    m_graph->setObjectName("flameGraph");
    graphs->addWidget(m_callers);
    graphs->addWidget(m_graph);
    m_table = new QTreeView(sides);
    m_table->setObjectName("flameTable");
    m_table->setAccessibleName(tr("Calls"));
    m_table->setUniformRowHeights(true);
    m_table->setAlternatingRowColors(true);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_model = new CallTableModel(m_table);
    m_table->setModel(m_model);
    m_table->header()->setStretchLastSection(false);
    m_table->header()->setSectionResizeMode(CallTableModel::Name, QHeaderView::Stretch);
    m_table->header()->setMinimumSectionSize(fontMetrics().horizontalAdvance('0'));
    m_table->installEventFilter(this);
    m_table->setSortingEnabled(true);
    m_table->header()->setSortIndicator(-1, Qt::DescendingOrder);
    sides->addWidget(graphs);
    sides->addWidget(m_table);
    sides->setStretchFactor(0, 3);
    sides->setStretchFactor(1, 2);
    sides->setSizes({550, 450});
    for (FlameGraph* graph : {m_graph, m_callers}) {
        connect(graph, &FlameGraph::searchWanted, this, [this] {
            m_search->setFocus();
            m_search->selectAll();
        });
        connect(graph, &FlameGraph::menuWanted, this,
                [this, graph](std::uint32_t frame, QPoint at) { showMenu(*graph->frames(), frame, at); });
    }
    connect(m_graph, &FlameGraph::chosen, this, &FlamePanel::choose);
    connect(m_callers, &FlameGraph::chosen, this,
            [this](std::uint32_t frame) { selectLongest(m_callers->frames()->frames[frame]); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FlamePanel::chooseRow);
    connect(m_table, &QTreeView::customContextMenuRequested, this, [this](QPoint at) {
        const QModelIndex index = m_table->indexAt(at);
        if (index.isValid() && m_trees)
            showMenu(*m_trees->rows, m_model->frameOf(index), m_table->viewport()->mapToGlobal(at));
    });
    return sides;
}

void FlamePanel::addActions()
{
    const auto add = [this](const QString& text, const QKeySequence& shortcut, auto&& triggered) {
        auto* action = new QAction(text, this);
        action->setShortcut(shortcut);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, triggered);
        addAction(action);
    };
    add(tr("Find calls"), QKeySequence::Find, [this] {
        m_search->setFocus();
        m_search->selectAll();
    });
    add(tr("Next found call"), QKeySequence::FindNext, [this] { m_graph->goToMatch(1); });
    add(tr("Previous found call"), QKeySequence::FindPrevious, [this] { m_graph->goToMatch(-1); });
    add(tr("Use selection as A"), {}, [this] { useSelectionAsA(); });
    add(tr("Use selection as B"), {}, [this] { useSelectionAsB(); });
    add(tr("Zoom out completely"), {}, [this] { m_graph->zoomTo(0); });
    add(tr("Copy calls as text"), {}, [this] { copyText(); });
    add(tr("Save flame graph…"), {}, [this] { saveImage(); });
}

void FlamePanel::connectDocument()
{
    connect(&m_later, &QTimer::timeout, &m_work, &PanelWork::request);
    connect(m_document, &TraceDocument::traceReplaced, this, [this] {
        m_work.abandon();
        m_trees.reset();
        m_name.clear();
        forgetRanges();
        m_other->setCurrentIndex(0);
        m_work.request();
    });
    connect(m_document, &TraceDocument::analysedChanged, this, [this] {
        listOthers();
        m_work.request();
    });
    connect(m_document, &TraceDocument::comparedChanged, this, [this] {
        listOthers();
        if (Other(m_other->currentData().toInt()) == Other::ComparedTrace)
            m_work.request();
    });
    connect(m_document->selection(), &Selection::changed, this, &FlamePanel::selectionChanged);
}

void FlamePanel::listOthers()
{
    const int chosen = m_other->currentIndex() < 0 ? 0 : m_other->currentData().toInt();
    m_other->clear();
    m_other->addItem(tr("No difference"), int(Other::None));
    const auto analysed = m_document->analysed();
    if (analysed && analysed->facts.steps.size() > 1) {
        m_other->addItem(tr("Difference with the median step"), int(Other::MedianStep));
        m_other->addItem(tr("Difference with the fastest step"), int(Other::FastestStep));
        m_other->addItem(tr("Difference with the slowest step"), int(Other::SlowestStep));
        m_other->addItem(tr("Difference with a step…"), int(Other::ChosenStep));
    }
    if (m_rangeA)
        m_other->addItem(tr("Difference with A: %1").arg(rangeText(*m_rangeA)), int(Other::RangeA));
    if (const auto compared = m_document->compared())
        m_other->addItem(tr("Difference with %1").arg(compared->name), int(Other::ComparedTrace));
    m_other->setCurrentIndex(std::max(0, m_other->findData(chosen)));
}

void FlamePanel::chooseOther()
{
    if (Other(m_other->currentData().toInt()) == Other::ChosenStep) {
        const auto& steps = m_document->analysed()->facts.steps;
        bool chosen = false;
        const int step = QInputDialog::getInt(
            this, tr("Difference with a step"), tr("Step"), static_cast<int>(steps.front().index),
            static_cast<int>(steps.front().index), static_cast<int>(steps.back().index), 1, &chosen);
        if (!chosen)
            m_other->setCurrentIndex(0);
        m_otherStep = step;
    }
    m_work.request();
}

std::optional<profiler::TimeRange> FlamePanel::selectedRange() const
{
    const Selection* selection = m_document->selection();
    std::optional<profiler::TimeRange> range = selection->range();
    if (!range && selection->slice() && holds(*m_document->trace(), *selection->slice()))
        range = m_document->trace()->slice(*selection->slice()).range();
    return range && !range->empty() ? range : std::nullopt;
}

std::optional<profiler::TimeRange> FlamePanel::rangeToUse()
{
    const auto range = selectedRange();
    if (!range)
        emit noticed(tr("Nothing is selected. Select a slice or a range in the timeline: drag on the ruler."), {},
                     false);
    return range;
}

/// "1.250–1.340 s", with as many digits as the length of the range needs.
QString FlamePanel::rangeText(profiler::TimeRange range) const
{
    const profiler::TraceTime start = m_document->trace()->range().begin;
    int decimals = 3;
    for (auto unit = profiler::Nanoseconds{1'000'000};
         unit > range.duration() && decimals < profiler::kPositionDecimals; unit /= 1000)
        decimals += 3;
    return QStringLiteral("%1 – %2").arg(formatPosition(range.begin - start, decimals),
                                         formatPosition(range.end - start, decimals));
}

void FlamePanel::useSelectionAsA()
{
    const auto range = rangeToUse();
    if (!range)
        return;
    m_rangeA = range;
    listOthers();
    m_other->setCurrentIndex(m_other->findData(int(Other::RangeA)));
    if (!m_rangeB)
        m_scope->setCurrentIndex(int(Scope::Selection));
    m_work.request();
}

void FlamePanel::useSelectionAsB()
{
    const auto range = rangeToUse();
    if (!range)
        return;
    m_rangeB = range;
    const QString text = tr("B: %1").arg(rangeText(*range));
    if (m_scope->count() == int(Scope::RangeB))
        m_scope->addItem(text);
    else
        m_scope->setItemText(int(Scope::RangeB), text);
    m_scope->setCurrentIndex(int(Scope::RangeB));
    if (m_rangeA)
        m_other->setCurrentIndex(m_other->findData(int(Other::RangeA)));
    m_work.request();
}

/// They belong to the previous trace.
void FlamePanel::forgetRanges()
{
    m_rangeA.reset();
    m_rangeB.reset();
    if (m_scope->currentIndex() == int(Scope::RangeB))
        m_scope->setCurrentIndex(int(Scope::WholeTrace));
    m_scope->removeItem(int(Scope::RangeB));
    listOthers();
}

void FlamePanel::selectionChanged()
{
    const auto scope = Scope(m_scope->currentIndex());
    if (!m_choosing && (scope == Scope::SelectedStep || scope == Scope::Selection)) {
        m_work.setOutdated();
        m_later.start();
    }
}

std::optional<std::size_t> FlamePanel::selectedStep() const
{
    const auto analysed = m_document->analysed();
    const Selection* selection = m_document->selection();
    std::optional<profiler::TraceTime> time;
    if (selection->range())
        time = selection->range()->begin;
    else if (selection->slice() && holds(*m_document->trace(), *selection->slice()))
        time = m_document->trace()->slice(*selection->slice()).begin;
    if (!time || !analysed)
        return std::nullopt;
    const auto& steps = analysed->facts.steps;
    const auto found =
        std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.range.contains(*time); });
    return found == steps.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - steps.begin()));
}

std::optional<FlamePanel::Plan> FlamePanel::plan(QString& whyNot) const
{
    const auto trace = m_document->trace();
    const auto analysed = m_document->analysed();
    const auto nothing = [&](const QString& text) {
        whyNot = text;
        return std::nullopt;
    };
    if (trace->sliceCount() == 0)
        return nothing(tr("Open a trace to see its calls as a flame graph."));
    if (trace->captureStats().live)
        return nothing(tr("The training is still running. Its calls are shown when the trace is complete."));
    if (!analysed || analysed->trace != trace)
        return nothing(m_document->whyNotAnalysed().isEmpty() ? tr("The trace is still loading.")
                                                              : m_document->whyNotAnalysed());
    Plan plan;
    plan.part.trace = trace;
    plan.part.options.by = CallGrouping(m_grouping->currentIndex());
    plan.part.options.time = CallTime(m_time->currentIndex());
    plan.part.options.stepRange = analysed->source.range;
    plan.order = Order(m_order->currentIndex());
    plan.name = m_name.toStdString();
    if (!advisor::hasCallsOrSamples(*trace, plan.part.options.by)) {
        if (plan.part.options.by == CallGrouping::Operator)
            return nothing(tr("The trace contains no activity of host threads. Record operators or CUDA calls to see "
                              "calls here."));
        return nothing(plan.part.options.by == CallGrouping::Python
                           ? tr("The trace contains no Python functions. Record the program with Stepscope, or with "
                                "torch.profiler.profile(with_stack=True), or choose Operators above.")
                           : tr("The trace contains no calls of nn.Module. Record it with "
                                "torch.profiler.profile(with_stack=True), or choose Operators above."));
    }
    const std::vector<Step>& steps = analysed->facts.steps;
    switch (Scope(m_scope->currentIndex())) {
    case Scope::WholeTrace:
        break;
    case Scope::AllSteps:
        if (steps.empty())
            return nothing(tr("The trace has no steps. Choose Whole trace above, or choose a step range in Summary."));
        plan.part.options.scope = scopeOf(*trace, steps);
        break;
    case Scope::SelectedStep: {
        const auto step = selectedStep();
        if (!step)
            return nothing(steps.empty() ? tr("The trace has no steps. Choose Whole trace above.")
                                         : tr("Select a step, or anything within one, in the timeline."));
        plan.part.options.scope = analysis::scopeOf(*trace, {steps[*step]});
        break;
    }
    case Scope::Selection:
        if (const auto range = selectedRange())
            plan.part.options.scope.window = {*range};
        else
            return nothing(tr("Select a slice or a range in the timeline: drag on the ruler."));
        break;
    case Scope::RangeB:
        plan.part.options.scope.window = {*m_rangeB};
        break;
    }
    const auto compared = m_document->compared();
    const auto other = Other(m_other->currentData().toInt());
    if (other == Other::None || (other != Other::ComparedTrace && other != Other::RangeA && steps.empty()))
        return plan;
    plan.other = plan.part;
    if (other == Other::RangeA) {
        plan.other->options.scope = {.window = {*m_rangeA}};
        return plan;
    }
    if (other == Other::ComparedTrace && compared) {
        plan.other->trace = compared->trace;
        const bool bySteps = !compared->steps.empty() && !steps.empty();
        plan.other->options.scope = bySteps ? scopeOf(*compared->trace, compared->steps) : CallScope{};
        if (bySteps && plan.part.options.scope.steps == 0)
            plan.part.options.scope = scopeOf(*trace, steps);
        return plan;
    }
    const auto chosen =
        std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.index == m_otherStep; });
    const Step& step = other == Other::FastestStep   ? byDuration(steps, 0)
                       : other == Other::MedianStep  ? byDuration(steps, 0.5)
                       : other == Other::SlowestStep ? byDuration(steps, 1)
                       : chosen != steps.end()       ? *chosen
                                                     : steps.front();
    plan.other->options.scope = analysis::scopeOf(*trace, {step});
    if (Scope(m_scope->currentIndex()) == Scope::WholeTrace)
        plan.part.options.scope = scopeOf(*trace, steps); // comparable with a step
    return plan;
}

void FlamePanel::start()
{
    QString whyNot;
    const std::optional<Plan> planned = plan(whyNot);
    if (!planned) {
        m_work.abandon();
        m_trees.reset();
        m_work.show(whyNot);
        return;
    }
    if (!m_trees)
        m_work.show(tr("Reading the calls…"));
    m_work.run(
        [this, before = m_trees, plan = *planned](const std::stop_token& stop, const Background::Post& post) {
            const double parts = plan.other ? 2 : 1;
            const auto treeOf = [&](const Part& part, double first) -> std::shared_ptr<const CallTree> {
                if (before && before->plan.part.isSame(part))
                    return before->tree;
                if (before && before->plan.other && before->plan.other->isSame(part))
                    return before->other;
                CallTreeOptions options = part.options;
                options.progress = [&](double share) {
                    post([this, shown = kTreeShare * (first + share / parts)] { m_work.setProgress(shown); });
                };
                return std::make_shared<const CallTree>(advisor::callsOrSamples(*part.trace, options, stop));
            };
            auto trees = std::make_shared<Trees>();
            trees->plan = plan;
            trees->tree = treeOf(plan.part, 0);
            if (plan.other && !stop.stop_requested())
                trees->other = treeOf(*plan.other, 0.5);
            if (stop.stop_requested())
                return;
            const auto framesFor = [&](auto&& view) {
                return trees->other ? std::make_shared<const CallFrames>(
                                          framesOf(difference(view(*trees->other), view(*trees->tree))))
                                    : std::make_shared<const CallFrames>(framesOf(view(*trees->tree)));
            };
            if (plan.order == Order::Sandwich) {
                const auto totals = callTotals(*trees->tree);
                trees->rows = std::make_shared<const CallFrames>(framesOf(totals, *trees->tree));
                std::string name = plan.name;
                if (name.empty() && !totals.empty())
                    name = totals.front().name;
                trees->plan.name = name;
                trees->frames = framesFor([&](const CallTree& tree) { return sandwich(tree, name).callees; });
                trees->callers = framesFor([&](const CallTree& tree) { return sandwich(tree, name).callers; });
            } else {
                const bool turned = plan.order == Order::BottomUp;
                trees->frames = framesFor([&](const CallTree& tree) { return turned ? bottomUp(tree, stop) : tree; });
                trees->rows = trees->frames;
            }
            post([this, trees] { take(trees); });
        },
        [this](const profiler::Error& error) { fail(error); });
}

void FlamePanel::fail(const profiler::Error& error)
{
    m_trees.reset();
    m_work.show(tr("The calls could not be computed: %1").arg(asQString(error.message())));
}

void FlamePanel::take(const std::shared_ptr<const Trees>& trees)
{
    m_work.end();
    m_trees = trees;
    m_name = asQString(trees->plan.name);
    const bool sandwiched = trees->plan.order == Order::Sandwich;
    m_callers->setVisible(sandwiched);
    if (sandwiched)
        m_callers->setFrames(trees->callers);
    m_graph->setFrames(trees->frames);
    m_choosing = true;
    m_model->setFrames(trees->rows);
    if (sandwiched)
        for (std::uint32_t i = 1; i < trees->rows->frames.size(); ++i)
            if (trees->rows->name(trees->rows->frames[i]) == m_name)
                m_table->setCurrentIndex(m_model->indexOf(i));
    m_choosing = false;
    m_table->setRootIsDecorated(!sandwiched);
    const bool isDifference = trees->rows->isDifference;
    for (int column = CallTableModel::Total; column < CallTableModel::kColumns; ++column)
        m_table->header()->resizeSection(
            column, 14 + fontMetrics().horizontalAdvance(column != CallTableModel::Calls ? QStringLiteral("+00.0 ms")
                                                         : isDifference ? QStringLiteral("00,000 → 00,000")
                                                                        : QStringLiteral("000,000")));
    fitColumns();
    showSearch();
    m_work.show(!trees->rows->empty() ? QString()
                : trees->plan.part.options.time == CallTime::Device
                    ? tr("Nothing that ran on a device was launched in this part of the trace.")
                    : tr("Nothing was called in this part of the trace. Choose another part above."));
}

bool FlamePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table && event->type() == QEvent::Resize)
        fitColumns();
    return QWidget::eventFilter(watched, event);
}

/// In a narrow table, the names need the space of the less important figures.
void FlamePanel::fitColumns()
{
    QHeaderView* header = m_table->header();
    // The viewport is resized after the table.
    int room = m_table->width() - m_table->verticalScrollBar()->sizeHint().width() -
               fontMetrics().averageCharWidth() * kLeastNameLetters - kBeforeName;
    using Model = CallTableModel;
    // The third column of a difference is the change.
    const std::array order = m_trees && m_trees->rows->isDifference
                                 ? std::array{Model::Self, Model::Total, Model::Share, Model::Calls}
                                 : std::array{Model::Total, Model::Share, Model::Self, Model::Calls};
    for (const auto column : order) {
        header->setSectionHidden(column, false);
        room -= header->sectionSize(column);
        header->setSectionHidden(column, room < 0 && column != order.front());
    }
}

void FlamePanel::showSearch()
{
    const QString text = m_search->text().trimmed();
    m_graph->setSearch(text);
    m_callers->setSearch(text);
    const auto [share, count] = m_graph->found();
    m_found->setText(text.isEmpty() ? QString()
                     : count == 0   ? tr("no calls")
                                    : tr("%1, %2 of the time")
                                        .arg(formatCounted(static_cast<std::int64_t>(count), tr("call"), tr("calls")),
                                             formatShare(share)));
}

void FlamePanel::choose(std::uint32_t frame)
{
    if (m_trees && m_trees->rows == m_graph->frames()) {
        m_choosing = true;
        const QModelIndex index = m_model->indexOf(frame);
        m_table->setCurrentIndex(index);
        m_table->scrollTo(index);
        m_choosing = false;
    }
    selectLongest(m_graph->frames()->frames[frame]);
}

void FlamePanel::chooseRow()
{
    if (m_choosing || !m_trees)
        return;
    const std::uint32_t frame = m_model->frameOf(m_table->currentIndex());
    if (frame == 0)
        return;
    const CallFrame& row = m_trees->rows->frames[frame];
    if (m_trees->plan.order == Order::Sandwich)
        showSandwich(m_trees->rows->name(row));
    else
        m_graph->setCurrent(frame);
    selectLongest(row);
}

void FlamePanel::selectLongest(const CallFrame& frame)
{
    if (!frame.longest || !holds(*m_document->trace(), *frame.longest))
        return;
    const profiler::Slice slice = m_document->trace()->slice(*frame.longest);
    const auto around =
        profiler::Nanoseconds{static_cast<std::int64_t>(static_cast<double>(slice.duration.count()) * kSurroundings)};
    m_choosing = true;
    m_document->selection()->selectSlice(slice.id);
    m_document->selection()->show({slice.begin - around, slice.end() + around}, slice.id.track);
    m_choosing = false;
}

void FlamePanel::showSandwich(const QString& name)
{
    m_name = name;
    m_order->setCurrentIndex(int(Order::Sandwich));
    m_work.request();
}

void FlamePanel::showMenu(const CallFrames& frames, std::uint32_t index, QPoint global)
{
    const CallFrame frame = frames.frames[index];
    const QString name = frames.name(frame);
    QMenu menu(this);
    if (index != 0) {
        if (&frames == m_graph->frames().get())
            menu.addAction(tr("Zoom to this call"), this, [&] { m_graph->zoomTo(index); });
        if (frame.longest)
            menu.addAction(tr("Show the longest call in the timeline"), this, [&] { selectLongest(frame); });
        if (const auto function = pythonFunctionNamed(name.toStdString()); function && !frames.isDifference)
            menu.addAction(tr("Open %1 in the editor").arg(sourceLink(*function).value).replace('&', "&&"), this,
                           [&] {
                               m_document->selection()->openInEditor(QString::fromStdString(function->file),
                                                                     function->line);
                           })
                ->setObjectName("openSource");
        menu.addAction(tr("Callers and callees of this name"), this, [&] { showSandwich(name); });
        menu.addAction(tr("Find this name"), this, [&] { m_search->setText(name); });
        menu.addSeparator();
        menu.addAction(icon("copy"), tr("Copy name"), this, [&] { QApplication::clipboard()->setText(name); });
    }
    menu.addAction(tr("Zoom out completely"), this, [&] { m_graph->zoomTo(0); });
    menu.exec(global);
}

void FlamePanel::copyText() const
{
    if (m_trees)
        QApplication::clipboard()->setText(asText(*m_trees->rows));
}

void FlamePanel::saveImage()
{
    if (!m_trees)
        return;
    const QString file = askWhereToSave(this, tr("Save the flame graph"), QStringLiteral("calls.svg"),
                                        {{tr("SVG (*.svg)"), ".svg"}, {tr("PNG (*.png)"), ".png"}});
    if (file.isEmpty())
        return;
    const QSize size = m_graph->fullSize();
    bool saved = true;
    if (file.endsWith(QStringLiteral(".png"), Qt::CaseInsensitive)) {
        constexpr int kScale = 2;
        QImage image(size * kScale, QImage::Format_RGB32);
        image.setDevicePixelRatio(kScale);
        QPainter painter(&image);
        m_graph->render(painter, size, false);
        painter.end();
        saved = image.save(file);
    } else {
        QSvgGenerator svg;
        svg.setFileName(file);
        svg.setSize(size);
        svg.setViewBox(QRect(QPoint(0, 0), size));
        svg.setTitle(m_document->title());
        QPainter painter;
        saved = painter.begin(&svg);
        if (saved)
            m_graph->render(painter, size, true);
    }
    if (!saved)
        emit noticed(tr("Could not save the flame graph."), tr("%1 cannot be written.").arg(file), true);
}

} // namespace app
