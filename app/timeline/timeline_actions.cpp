#include "app/timeline/timeline_actions.h"

#include "app/timeline/timeline_canvas.h"

#include <QAction>
#include <QActionGroup>
#include <QKeySequence>
#include <QMenu>
#include <algorithm>
#include <variant>
#include <vector>

namespace app {

namespace {

template <class Part>
using CommandOf = void (Part::*)();
using Command = std::variant<CommandOf<TimelineCanvas>, CommandOf<TimelineNavigation>, CommandOf<TimelineSelection>,
                             CommandOf<TimelineMarkCommands>, CommandOf<TimelineRowCommands>, CommandOf<PinnedCards>>;

// The part of a canvas that carries out a command.
TimelineCanvas& partFor(TimelineCanvas& canvas, CommandOf<TimelineCanvas>)
{
    return canvas;
}
TimelineNavigation& partFor(TimelineCanvas& canvas, CommandOf<TimelineNavigation>)
{
    return canvas.navigation();
}
TimelineSelection& partFor(TimelineCanvas& canvas, CommandOf<TimelineSelection>)
{
    return canvas.selection();
}
TimelineMarkCommands& partFor(TimelineCanvas& canvas, CommandOf<TimelineMarkCommands>)
{
    return canvas.marks();
}
TimelineRowCommands& partFor(TimelineCanvas& canvas, CommandOf<TimelineRowCommands>)
{
    return canvas.rows();
}
PinnedCards& partFor(TimelineCanvas& canvas, CommandOf<PinnedCards>)
{
    return canvas.cards();
}

struct Entry {
    const char* name;
    const char* text;
    std::vector<QKeyCombination> keys;
    Command command;
};

struct Topic {
    const char* title;
    std::vector<Entry> entries;
};

constexpr const char* kMarks = QT_TRANSLATE_NOOP("app::TimelineCanvas", "Marks");

const std::vector<Topic>& topics()
{
    using C = TimelineCanvas;
    using Navigation = TimelineNavigation;
    using Selected = TimelineSelection;
    using Marks = TimelineMarkCommands;
    using Rows = TimelineRowCommands;
    static const std::vector<Topic> all = {
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find"),
         {{"find",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find name…"),
           {Qt::CTRL | Qt::Key_F, Qt::Key_Slash},
           &C::findWanted},
          {"findNext", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find next"), {Qt::Key_F3}, &C::findNextWanted},
          {"findPrevious",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find previous"),
           {Qt::SHIFT | Qt::Key_F3},
           &C::findPreviousWanted},
          {"goTo",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to time or step…"),
           {Qt::CTRL | Qt::Key_G},
           &C::goToWanted}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move"),
         {{"zoomIn",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom in"),
           {Qt::Key_W, Qt::Key_Plus, Qt::Key_Equal},
           &Navigation::zoomIn},
          {"zoomOut",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom out"),
           {Qt::Key_S, Qt::Key_Minus},
           &Navigation::zoomOut},
          {"panLeft",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Earlier"),
           {Qt::Key_A, Qt::Key_Left},
           &Navigation::panLeft},
          {"panRight",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Later"),
           {Qt::Key_D, Qt::Key_Right},
           &Navigation::panRight},
          {"scrollUp", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll up"), {Qt::Key_Up}, &Navigation::scrollUp},
          {"scrollDown",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll down"),
           {Qt::Key_Down},
           &Navigation::scrollDown},
          {"fit", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fit selection, or all"), {Qt::Key_F}, &Navigation::fit},
          {"fitAll", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fit all"), {Qt::Key_0}, &Navigation::fitAll},
          {"zoomToSelected",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom to selection"),
           {Qt::Key_Return, Qt::Key_Enter},
           &Navigation::zoomToSelected},
          {"goToBegin",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to start"),
           {Qt::Key_Home},
           &Navigation::goToBegin},
          {"followEnd",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to end and follow"),
           {Qt::Key_End},
           &Navigation::followEnd}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select"),
         {{"selectNext",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select next slice"),
           {Qt::Key_Period},
           &Selected::selectNext},
          {"selectPrevious",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select previous slice"),
           {Qt::Key_Comma},
           &Selected::selectPrevious},
          {"selectOuter",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select parent"),
           {Qt::SHIFT | Qt::Key_Up},
           &Selected::selectOuter},
          {"selectInner",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select first child"),
           {Qt::SHIFT | Qt::Key_Down},
           &Selected::selectInner},
          {"selectView",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select visible range"),
           {Qt::Key_R},
           &Selected::selectView},
          {"addNext",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Add next slice to selection"),
           {Qt::CTRL | Qt::Key_Period},
           &Selected::addNext},
          {"addPrevious",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Add previous slice to selection"),
           {Qt::CTRL | Qt::Key_Comma},
           &Selected::addPrevious},
          {"pinTooltip", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Pin tooltip"), {Qt::Key_T}, &PinnedCards::pin},
          {"letGo", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Clear marks and selection"), {Qt::Key_Escape}, &C::letGo},
          {"followFlow",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Follow flow"),
           {Qt::Key_BracketRight},
           &Selected::followFlow},
          {"followFlowBack",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Follow flow back"),
           {Qt::Key_BracketLeft},
           &Selected::followFlowBack},
          {"goToOtherPass",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Switch between forward and backward"),
           {Qt::Key_Backslash},
           &Selected::goToOtherPass},
          {"toggleAllFlows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Show all visible flows"),
           {Qt::Key_L},
           &Selected::toggleAllFlows}}},
        {kMarks,
         {{"toggleMark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Set or remove mark"),
           {Qt::Key_M},
           &Marks::toggleMark},
          {"editBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Bookmark with note…"),
           {Qt::CTRL | Qt::Key_B},
           &Marks::editBookmark},
          {"removeBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Remove bookmark"),
           {Qt::CTRL | Qt::SHIFT | Qt::Key_B},
           &Marks::removeBookmark},
          {"nextBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Next bookmark"),
           {Qt::Key_F2},
           &Marks::nextBookmark},
          {"previousBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Previous bookmark"),
           {Qt::SHIFT | Qt::Key_F2},
           &Marks::previousBookmark}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Tracks"),
         {{"filterTracks",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Filter tracks…"),
           {Qt::CTRL | Qt::ALT | Qt::Key_F},
           &C::filterTracks},
          {"rowUp", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Track above"), {Qt::CTRL | Qt::Key_Up}, &Rows::rowUp},
          {"rowDown",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Track below"),
           {Qt::CTRL | Qt::Key_Down},
           &Rows::rowDown},
          {"toggleRow",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Collapse or expand track"),
           {Qt::Key_Space},
           &Rows::toggleRow},
          {"foldAll",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Collapse all tracks"),
           {Qt::CTRL | Qt::Key_Left},
           &Rows::foldAll},
          {"unfoldAll",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Expand all tracks"),
           {Qt::CTRL | Qt::Key_Right},
           &Rows::unfoldAll},
          {"moveRowUp",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move track up"),
           {Qt::ALT | Qt::Key_Up},
           &Rows::moveRowUp},
          {"moveRowDown",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move track down"),
           {Qt::ALT | Qt::Key_Down},
           &Rows::moveRowDown},
          {"togglePin", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Pin / unpin track"), {Qt::Key_P}, &Rows::togglePin},
          {"hideRow", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Hide track"), {Qt::Key_H}, &Rows::hideRow},
          {"showAllRows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Show all hidden tracks"),
           {Qt::SHIFT | Qt::Key_H},
           &Rows::showAllRows},
          {"resetRows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Reset track order"),
           {Qt::CTRL | Qt::ALT | Qt::Key_0},
           &Rows::resetRows}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Colours"),
         {{"colorByKind", QT_TRANSLATE_NOOP("app::TimelineCanvas", "By kind"), {Qt::CTRL | Qt::Key_1}, &C::colorByKind},
          {"colorByName", QT_TRANSLATE_NOOP("app::TimelineCanvas", "By name"), {Qt::CTRL | Qt::Key_2}, &C::colorByName},
          {"colorByOp",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "By operation"),
           {Qt::CTRL | Qt::Key_3},
           &C::colorByOp}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Images and shortcuts"),
         {{"copyPicture",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Copy image"),
           {Qt::CTRL | Qt::Key_C},
           &C::copyWanted},
          {"savePicture",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Save image…"),
           {Qt::CTRL | Qt::SHIFT | Qt::Key_S},
           &C::saveWanted},
          {"keys",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Keyboard shortcuts"),
           {Qt::Key_Question},
           &C::keysWanted}}},
    };
    return all;
}

/// False for an action that another part added to the canvas: the bookmarks, and the mark for the alignment.
bool isInATopic(const QAction& action)
{
    return std::any_of(topics().begin(), topics().end(), [&](const Topic& topic) {
        return std::any_of(topic.entries.begin(), topic.entries.end(),
                           [&](const Entry& entry) { return action.objectName() == QLatin1String(entry.name); });
    });
}

} // namespace

void addTimelineActions(TimelineCanvas& canvas)
{
    auto* colors = new QActionGroup(&canvas);
    for (const Topic& topic : topics())
        for (const Entry& entry : topic.entries) {
            auto* action = new QAction(TimelineCanvas::tr(entry.text), &canvas);
            action->setObjectName(entry.name);
            QList<QKeySequence> keys;
            for (const QKeyCombination key : entry.keys)
                keys.append(QKeySequence(key));
            action->setShortcuts(keys);
            // Single-letter shortcuts must not take keys from text fields elsewhere in the window.
            action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
            std::visit(
                [&](auto command) {
                    QObject::connect(action, &QAction::triggered, &partFor(canvas, command), command);
                },
                entry.command);
            canvas.addAction(action);
            if (action->objectName().startsWith(QStringLiteral("colorBy"))) {
                action->setCheckable(true);
                action->setChecked(action->objectName() == QStringLiteral("colorByKind"));
                colors->addAction(action);
            }
        }
    timelineAction(canvas, "toggleAllFlows")->setCheckable(true);
}

QAction* timelineAction(const TimelineCanvas& canvas, const char* name)
{
    return canvas.findChild<QAction*>(QLatin1String(name), Qt::FindDirectChildrenOnly);
}

QList<QMenu*> timelineMenus(const TimelineCanvas& canvas, QWidget* parent)
{
    QList<QMenu*> menus;
    for (const Topic& topic : topics()) {
        auto* menu = new QMenu(TimelineCanvas::tr(topic.title), parent);
        for (const Entry& entry : topic.entries)
            menu->addAction(timelineAction(canvas, entry.name));
        menus.append(menu);
        if (topic.title == kMarks) {
            menu->addSeparator();
            for (QAction* action : canvas.actions())
                if (!isInATopic(*action))
                    menu->addAction(action);
        }
    }
    return menus;
}

QList<KeyTopic> timelineKeys(const TimelineCanvas& canvas)
{
    using C = TimelineCanvas;
    QList<KeyTopic> sheet;
    for (const Topic& topic : topics()) {
        KeyTopic part{C::tr(topic.title), {}};
        for (const Entry& entry : topic.entries) {
            const QAction* action = timelineAction(canvas, entry.name);
            QStringList keys;
            for (const QKeySequence& key : action->shortcuts())
                keys.append(key.toString(QKeySequence::NativeText));
            part.keys.append({keys.join(QStringLiteral(", ")), action->text().remove(QChar(u'…'))});
        }
        sheet.append(part);
    }
    sheet.append({C::tr("Mouse and trackpad"),
                  {{C::tr("Wheel, pinch"), C::tr("Zoom at the pointer")},
                   {C::tr("Shift+wheel, two fingers"), C::tr("Scroll")},
                   {C::tr("Drag"), C::tr("Pan")},
                   {C::tr("Ctrl+drag in the second of two timelines"), C::tr("Shift it against the first")},
                   {C::tr("Drag on the ruler, Shift+drag"), C::tr("Measure and select a range")},
                   {C::tr("Click, double click"), C::tr("Select a slice, zoom to it")},
                   {C::tr("Ctrl+click"), C::tr("Add a slice to the selection, or remove it")},
                   {C::tr("Middle click"), C::tr("Pin the tooltip")},
                   {C::tr("Drag a track's name or lower edge"), C::tr("Move or resize the track")}}});
    return sheet;
}

} // namespace app
