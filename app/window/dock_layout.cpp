#include "app/window/dock_layout.h"

#include "app/look/display_text.h"
#include "app/look/help_place.h"
#include "app/window/dock.h"
#include "app/window/workbench.h"
#include "stepscope_app_views_registry.h"

#include <QAction>
#include <QLayout>
#include <QMainWindow>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <algorithm>
#include <utility>

namespace app {

namespace {

// A layout that was saved with another version, or with other docks, is not restored.
constexpr int kLayoutVersion = 4;
constexpr auto kGeometryKey = "window/geometry";
constexpr auto kTimelineStem = "timeline", kSecondStem = "side_by_side", kDifferenceStem = "step_difference",
               kJobStem = "job";
constexpr int kMostMinimum = 120; ///< logical pixels: a panel at the bottom that needs more height scrolls
constexpr int kNarrow = 1100;    ///< logical pixels: a narrower window has no space for panels at the left of the start
                                 ///< page, or on both sides of a timeline
constexpr int kLowForTwo = 1000; ///< logical pixels: such a window has no space for them above two timelines
constexpr int kLow = 600; ///< logical pixels: such a window has no space for strips above an opened trace's timeline

/// Height of the panels at the bottom with their tabs before the user changes it. The timeline keeps its share of the
/// window, which tests/app/window_layout_test.cpp checks.
int usualBottomHeight(int window)
{
    return std::clamp(window * 5 / 24, 110, 360);
}

/// Height of the tabs with the panel of this title, which QMainWindow::resizeDocks() counts as part of the panel.
int tabsHeight(const QMainWindow& window, const QString& title)
{
    for (const auto* tabs : window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
        for (int i = 0; i < tabs->count(); ++i)
            if (tabs->tabText(i) == title)
                return tabs->height();
    return 0;
}

Qt::DockWidgetArea dockArea(ViewArea area)
{
    switch (area) {
    case ViewArea::Right:
        return Qt::RightDockWidgetArea;
    case ViewArea::Bottom:
        return Qt::BottomDockWidgetArea;
    default:
        return Qt::LeftDockWidgetArea;
    }
}

QString settingsKey(DocumentKind kind, const char* part)
{
    static const std::map<DocumentKind, QString> kNames = {{DocumentKind::Start, "start"},
                                                           {DocumentKind::Trace, "trace"},
                                                           {DocumentKind::Training, "training"},
                                                           {DocumentKind::Program, "program"},
                                                           {DocumentKind::Job, "job"}};
    return QString("window/layouts/%1/%2").arg(kNames.at(kind), QLatin1String(part));
}

/// Views that have nothing to show without a trace are hidden on the start page. An opened trace needs the space of the
/// trainer's configuration and of the list of its runs.
bool isUsual(ViewArea area, DocumentKind kind)
{
    switch (kind) {
    case DocumentKind::Start:
        return area == ViewArea::Left;
    case DocumentKind::Training:
        return true;
    case DocumentKind::Job: // its ranks and their figures need the width
        return area == ViewArea::Bottom;
    default:
        return area != ViewArea::Left;
    }
}

/// While docks are rearranged, those that are about to be hidden must not widen the window.
class Unconstrained {
public:
    explicit Unconstrained(QLayout* layout) : m_layout(layout)
    {
        m_layout->setSizeConstraint(QLayout::SetNoConstraint);
    }
    ~Unconstrained() { m_layout->setSizeConstraint(QLayout::SetDefaultConstraint); }
    Unconstrained(const Unconstrained&) = delete;
    Unconstrained& operator=(const Unconstrained&) = delete;

private:
    QLayout* m_layout;
};

} // namespace

DocumentKind kindOfDocument(const Workbench& bench)
{
    const TraceDocument& document = bench.document;
    if (bench.job.isOpen())
        return DocumentKind::Job;
    if (document.title().isEmpty() || document.isFollowingRun() || document.isOwnRun() ||
        (!document.path().empty() && bench.runs.contains(document.path())))
        return DocumentKind::Training;
    const bool recording = document.path().empty(); // its preview
    return recording || !document.program().id.isEmpty() ? DocumentKind::Program : DocumentKind::Trace;
}

DockLayout::DockLayout(Workbench* bench, QMainWindow* window)
    : QObject(window), m_bench(bench), m_window(window), m_stack(new QStackedWidget(window)),
      m_centre(new QSplitter(Qt::Vertical, m_stack))
{
    m_tell.setSingleShot(true);
    m_tell.setInterval(0);
    connect(&m_tell, &QTimer::timeout, this, &DockLayout::changed);
    for (const auto& [stem, view] : views::all())
        if (view.area == ViewArea::Start)
            m_start = view.create(*m_bench, m_stack);
    m_stack->addWidget(m_start);
    m_stack->addWidget(m_centre);
    // Until the visible page is known, no page requests space; otherwise docks that are about to be hidden would widen
    // the window.
    for (QWidget* page : {m_start, static_cast<QWidget*>(m_centre)})
        page->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
}

QWidget* DockLayout::centre() const
{
    return m_stack;
}

void DockLayout::makeViews()
{
    m_window->layout()->setSizeConstraint(QLayout::SetNoConstraint); // until show() has hidden some of them
    auto all = views::all();
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.entry.order < b.entry.order; });
    QByteArray names;
    for (const auto& [stem, view] : all) {
        if (view.area == ViewArea::Start)
            continue;
        const bool central = view.area == ViewArea::Center;
        QWidget* widget = view.create(*m_bench, central ? static_cast<QWidget*>(m_centre) : m_window);
        if (central)
            widget->setProperty(kHelpPlace, "docs/timeline.md");
        if (widget->objectName().isEmpty())
            widget->setObjectName(asQString(stem));
        names += widget->objectName().toUtf8() + ' ';
        if (central) {
            m_centre->addWidget(widget);
            m_views.push_back({view, widget, nullptr});
            if (stem == kTimelineStem)
                m_timeline = widget;
            if (stem == kSecondStem)
                m_second = widget;
        } else {
            addDock(view, widget);
            if (stem == kDifferenceStem) {
                m_difference = m_views.back().dock;
                m_difference->leaveTitleToTab();
            }
            if (stem == kJobStem)
                m_job = m_views.back().dock;
        }
    }
    m_version = (kLayoutVersion << 16) + qChecksum(names);
    // The timeline gets the remaining space; the other central views can be collapsed to nothing.
    for (int i = 0; i < m_centre->count(); ++i) {
        const bool isTimeline = m_centre->widget(i) == m_timeline;
        m_centre->setStretchFactor(i, isTimeline ? 1 : 0);
        m_centre->setCollapsible(i, !isTimeline);
    }
    setUpCorners();
    m_allDocks = m_window->saveState(m_version);
}

void DockLayout::addDock(const View& view, QWidget* widget)
{
    auto* dock = new Dock(view.title, m_window);
    dock->setObjectName("dock:" + widget->objectName());
    // The tallest panel would set the height of all panels that are tabbed with it.
    if (view.area == ViewArea::Bottom && widget->minimumSizeHint().height() > kMostMinimum) {
        auto* scroll = new QScrollArea(dock);
        scroll->setFrameShape(QFrame::NoFrame);
        scroll->setWidgetResizable(true);
        scroll->setWidget(widget);
        scroll->setFocusProxy(widget);
        dock->setWidget(scroll);
    } else {
        dock->setWidget(widget);
    }
    if (widget->accessibleName().isEmpty())
        widget->setAccessibleName(view.title);
    // Before the tables are tabbed, they are side by side and would make the window as wide as all of them together.
    const auto sibling =
        std::find_if(m_views.begin(), m_views.end(), [&](const auto& placed) { return placed.view.area == view.area; });
    if (view.area != ViewArea::Left && sibling != m_views.end())
        m_window->tabifyDockWidget(sibling->dock, dock);
    else
        m_window->addDockWidget(dockArea(view.area), dock);
    dock->show(); // otherwise it stays hidden until the event loop runs, and a layout saved before then would record
                  // that
    if (view.area == ViewArea::Bottom)
        dock->leaveTitleToTab();
    m_views.push_back({view, widget, dock});
    watch(dock);
}

void DockLayout::watch(Dock* dock)
{
    // Deferred: Qt emits these signals in the middle of changes of the layout, and when the window is destroyed.
    connect(dock, &QDockWidget::visibilityChanged, &m_tell, qOverload<>(&QTimer::start));
    connect(dock, &QDockWidget::topLevelChanged, &m_tell, qOverload<>(&QTimer::start));
    // To show a panel is to leave the maximized state.
    connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock](bool on) {
        if (!on || !isMaximized())
            return;
        setMaximized(false);
        dock->show();
    });
}

void DockLayout::setUpCorners()
{
    m_window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    m_window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    m_window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    m_window->setDocumentMode(true);
}

void DockLayout::show(DocumentKind kind)
{
    if (m_views.empty())
        return;
    const bool isOther = m_shown != kind;
    if (isOther) {
        const Unconstrained rearranging(m_window->layout());
        save();
        m_beforeMaximized.reset();
        m_shown = kind;
        // The hidden page requests no space; no page does while docks are rearranged.
        for (int i = 0; i < m_stack->count(); ++i)
            m_stack->widget(i)->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
        m_stack->setCurrentIndex(kind == DocumentKind::Start ? 0 : 1);
        m_hidden.clear();
        apply(kind);
        m_stack->currentWidget()->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
        fitWidth();
        emit changed();
    }
    // The next rank of a job is chosen on the same page.
    if (kind != DocumentKind::Start && (isOther || kind != DocumentKind::Job))
        focusCentre();
}

void DockLayout::showDocument()
{
    show(kindOfDocument(*m_bench));
}

void DockLayout::focusCentre()
{
    if (m_stack->currentWidget() == m_start)
        m_start->setFocus();
    else if (m_timeline)
        m_timeline->setFocus();
}

void DockLayout::reveal(const PlacedView& view)
{
    if (m_shown == DocumentKind::Start && (!m_bench->document.title().isEmpty() || m_bench->job.isOpen()))
        showDocument();
    if (view.dock) {
        setMaximized(false);
        makeRoomFor(dockArea(view.view.area));
        DockController::reveal(view.dock);
    } else {
        if (view.widget != m_timeline) {
            setMaximized(false);
            setOpen(view.widget, true);
        }
        view.widget->setFocus(Qt::ShortcutFocusReason);
    }
}

void DockLayout::reveal(const QString& stem)
{
    for (const PlacedView& placed : m_views)
        if (placed.widget->objectName() == stem)
            return reveal(placed);
}

DockLayout::Saved DockLayout::current() const
{
    return {m_window->saveState(m_version), m_centre->saveState()};
}

bool DockLayout::restore(const Saved& saved)
{
    if (!m_window->restoreState(saved.docks, m_version))
        return false;
    m_window->layout()->activate(); // the central views share the height that the docks leave
    m_centre->restoreState(saved.centre);
    for (int i = 0; i < m_centre->count(); ++i)
        m_centre->setCollapsible(i, m_centre->widget(i) != m_timeline);
    return true;
}

void DockLayout::apply(DocumentKind kind)
{
    const QSettings settings;
    if (!restore({settings.value(settingsKey(kind, "docks")).toByteArray(),
                  settings.value(settingsKey(kind, "centre")).toByteArray()}))
        arrangeDefault(kind);
    if (m_beforeSecond && kind != DocumentKind::Start) {
        m_difference->show();
        m_difference->raise();
        shareWithSecond();
    }
}

/// A layout that was saved with a larger window may need more width than this window has, which would widen it. Hides
/// the panels at the sides until the others fit; the actions of the areas show them again.
void DockLayout::fitWidth()
{
    for (const Qt::DockWidgetArea area : {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea}) {
        m_window->layout()->activate();
        if (m_window->layout()->minimumSize().width() <= m_window->width())
            return;
        setAreaShown(area, false);
    }
}

void DockLayout::arrangeDefault(DocumentKind kind)
{
    m_window->restoreState(m_allDocks, m_version);
    const int width = m_window->width(), height = m_window->height();
    QList<QDockWidget*> left;
    QDockWidget* firstBottom = nullptr;
    for (const PlacedView& placed : m_views) {
        if (!placed.dock)
            continue;
        placed.dock->setVisible(placed.dock == m_difference
                                    ? m_beforeSecond.has_value() && kind != DocumentKind::Start
                                    : isUsual(placed.view.area, kind) &&
                                          (placed.view.area != ViewArea::Left || width >= kNarrow));
        if (placed.view.area == ViewArea::Left)
            left << placed.dock;
        if (placed.view.area == ViewArea::Right && placed.dock != m_difference)
            m_window->resizeDocks({placed.dock}, {std::clamp(width / 5, 280, 360)}, Qt::Horizontal);
        if (placed.view.area == ViewArea::Bottom && !firstBottom)
            firstBottom = placed.dock;
    }
    if (kind == DocumentKind::Job) {
        m_job->raise();
        m_window->resizeDocks({m_job}, {height * 2 / 5}, Qt::Vertical); // the timeline gets as much as of a trace
    } else if (firstBottom) {
        firstBottom->raise();
        m_window->resizeDocks({firstBottom}, {usualBottomHeight(height)}, Qt::Vertical);
    }
    if (!left.isEmpty())
        m_window->resizeDocks({left.front()}, {std::clamp(width * 2 / 9, 260, 320)}, Qt::Horizontal);
    if (left.size() == 2)
        m_window->resizeDocks(left, {560, 200}, Qt::Vertical);
    m_window->layout()->activate();
    const bool opened = kind == DocumentKind::Trace || kind == DocumentKind::Program;
    openCentralViews(kind == DocumentKind::Job || (opened && height < kLow) ? 0 : std::clamp(height / 9, 90, 130));
}

/// Gives each central view except the timeline this height; 0 collapses it.
void DockLayout::openCentralViews(int stripHeight)
{
    QList<int> sizes;
    for (int i = 0; i < m_centre->count(); ++i)
        sizes << (m_centre->widget(i) == m_timeline ? std::max(1, m_centre->height())
                  : stripHeight == 0 || m_centre->widget(i) == m_second
                      ? 0
                      : std::max(m_centre->widget(i)->minimumSizeHint().height(),
                                 std::min(stripHeight, m_centre->widget(i)->sizeHint().height())));
    const auto timeline = m_centre->indexOf(m_timeline);
    for (int i = 0; i < m_centre->count() && timeline >= 0; ++i)
        if (i != timeline && !m_centre->widget(i)->isHidden())
            sizes[timeline] -= sizes[i] + m_centre->handleWidth();
    m_centre->setSizes(sizes);
    shareWithSecond();
}

/// Gives both timelines the same height.
void DockLayout::shareWithSecond()
{
    if (!m_second || m_second->isHidden())
        return;
    QList<int> sizes = m_centre->sizes();
    const int first = static_cast<int>(m_centre->indexOf(m_timeline)), second = m_centre->indexOf(m_second);
    const int both = sizes[first] + sizes[second];
    sizes[first] = both - both / 2;
    sizes[second] = both / 2;
    m_centre->setSizes(sizes);
}

void DockLayout::setSecondShown(bool on)
{
    if (!m_second || !m_difference || on == m_beforeSecond.has_value())
        return;
    setMaximized(false);
    const Unconstrained rearranging(m_window->layout());
    m_window->setUpdatesEnabled(false);
    const bool onStartPage = m_shown == DocumentKind::Start;
    if (on) {
        m_beforeSecond = current();
        m_second->show();
        m_difference->show();
        m_window->layout()->activate(); // it has a tab from now on
        m_difference->raise();
        m_window->resizeDocks({m_difference}, {std::clamp(m_window->width() * 3 / 10, 300, 480)}, Qt::Horizontal);
        m_window->layout()->activate();
        // In a low window, both timelines need the space of the strips above them.
        if (m_window->height() < kLowForTwo)
            openCentralViews(0);
        else
            shareWithSecond();
    } else {
        m_second->hide();
        const Saved before = *std::exchange(m_beforeSecond, std::nullopt);
        if (!onStartPage)
            static_cast<void>(restore(before));
    }
    m_window->setUpdatesEnabled(true);
    focusCentre();
    emit changed();
}

void DockLayout::setMaximized(bool on)
{
    if (on == isMaximized() || (on && (!m_shown || m_shown == DocumentKind::Start)))
        return;
    const Unconstrained rearranging(m_window->layout());
    m_window->setUpdatesEnabled(false);
    if (on) {
        m_beforeMaximized = current();
        for (const PlacedView& placed : m_views)
            if (placed.dock)
                placed.dock->hide();
        m_window->layout()->activate();
        openCentralViews(0);
    } else {
        const Saved before = *std::exchange(m_beforeMaximized, std::nullopt);
        static_cast<void>(restore(before));
    }
    m_window->setUpdatesEnabled(true);
    focusCentre();
    emit changed();
}

std::vector<QDockWidget*> DockLayout::docksIn(Qt::DockWidgetArea area) const
{
    std::vector<QDockWidget*> docks;
    for (const PlacedView& placed : m_views)
        if (placed.dock && !placed.dock->isFloating() && m_window->dockWidgetArea(placed.dock) == area)
            docks.push_back(placed.dock);
    return docks;
}

bool DockLayout::isAreaShown(Qt::DockWidgetArea area) const
{
    const auto docks = docksIn(area);
    return std::any_of(docks.begin(), docks.end(), [](const QDockWidget* dock) { return !dock->isHidden(); });
}

void DockLayout::setAreaShown(Qt::DockWidgetArea area, bool on)
{
    if (m_views.empty() || on == isAreaShown(area))
        return;
    if (on) {
        setMaximized(false);
        if (isAreaShown(area))
            return;
        makeRoomFor(area);
        std::vector<QDockWidget*> docks = std::exchange(m_hidden[area], {});
        if (docks.empty())
            docks = docksIn(area);
        if (!m_beforeSecond)
            std::erase(docks, m_difference); // it has nothing to show
        for (QDockWidget* dock : docks)
            dock->show();
        if (!docks.empty())
            docks.front()->raise();
        return;
    }
    const bool hadFocus = m_window->focusWidget() && [&] {
        const auto docks = docksIn(area);
        return std::any_of(docks.begin(), docks.end(),
                           [&](const QDockWidget* dock) { return dock->isAncestorOf(m_window->focusWidget()); });
    }();
    std::vector<QDockWidget*>& hidden = m_hidden[area];
    hidden.clear();
    for (QDockWidget* dock : docksIn(area))
        if (!dock->isHidden()) {
            // The one in front of its tabs comes first.
            hidden.insert(isSeen(dock) ? hidden.begin() : hidden.end(), dock);
        }
    for (QDockWidget* dock : hidden)
        dock->hide();
    if (hadFocus)
        focusCentre();
}

/// In a narrow window, the panels at the left replace those at the right, and the other way round.
void DockLayout::makeRoomFor(Qt::DockWidgetArea area)
{
    if (m_window->width() >= kNarrow)
        return;
    if (area == Qt::LeftDockWidgetArea)
        setAreaShown(Qt::RightDockWidgetArea, false);
    else if (area == Qt::RightDockWidgetArea)
        setAreaShown(Qt::LeftDockWidgetArea, false);
}

void DockLayout::toggleTall(const QString& title)
{
    for (QDockWidget* dock : docksIn(Qt::BottomDockWidgetArea)) {
        if (dock->windowTitle() != title)
            continue;
        const int half = m_window->height() / 2;
        const bool isTall = dock->height() > half * 9 / 10;
        if (!isTall)
            m_lowHeight = dock->height() + tabsHeight(*m_window, title);
        const int low = m_lowHeight > 0 ? m_lowHeight : usualBottomHeight(m_window->height());
        m_window->resizeDocks({dock}, {isTall ? low : half}, Qt::Vertical);
        return;
    }
}

bool DockLayout::isOpen(const QWidget* centralView) const
{
    const int index = m_centre->indexOf(const_cast<QWidget*>(centralView));
    return index >= 0 && m_centre->sizes().value(index) > 0;
}

void DockLayout::setOpen(const QWidget* centralView, bool on)
{
    const int index = m_centre->indexOf(const_cast<QWidget*>(centralView));
    const int timeline = m_centre->indexOf(m_timeline);
    if (index < 0 || index == timeline || timeline < 0 || on == isOpen(centralView))
        return;
    QList<int> sizes = m_centre->sizes();
    const int wanted = on ? centralView->minimumSizeHint().height() : 0;
    sizes[timeline] -= wanted - sizes[index];
    sizes[index] = wanted;
    m_centre->setSizes(sizes);
    emit changed();
}

void DockLayout::restoreGeometry()
{
    m_window->restoreGeometry(QSettings().value(kGeometryKey).toByteArray());
}

void DockLayout::save()
{
    QSettings settings;
    settings.setValue(kGeometryKey, m_window->saveGeometry());
    if (!m_shown)
        return;
    // The start page has its own layout, whether or not a second trace is open.
    const bool hasSecond = m_beforeSecond && m_shown != DocumentKind::Start;
    const Saved saved = hasSecond ? *m_beforeSecond : m_beforeMaximized.value_or(current());
    settings.setValue(settingsKey(*m_shown, "docks"), saved.docks);
    settings.setValue(settingsKey(*m_shown, "centre"), saved.centre);
}

void DockLayout::reset()
{
    if (!m_shown)
        return;
    m_beforeMaximized.reset();
    m_hidden.clear();
    const Unconstrained rearranging(m_window->layout());
    arrangeDefault(*m_shown);
    m_window->activateWindow(); // a floating panel may have been the active one
    focusCentre();
    emit changed();
}

} // namespace app
