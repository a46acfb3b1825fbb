#include "app/widgets/timeline_actions.h"

#include "app/widgets/timeline_canvas.h"

#include <QAction>
#include <QActionGroup>
#include <QKeySequence>
#include <QMenu>
#include <vector>

namespace app {

namespace {

using Hand = void (TimelineCanvas::*)();

struct Entry {
    const char* name;
    const char* text;
    std::vector<QKeyCombination> keys;
    Hand hand;
};

struct Topic {
    const char* title;
    std::vector<Entry> entries;
};

const std::vector<Topic>& topics()
{
    using C = TimelineCanvas;
    static const std::vector<Topic> all = {
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find"),
         {{"find",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find a name…"),
           {Qt::CTRL | Qt::Key_F, Qt::Key_Slash},
           &C::findWanted},
          {"findNext", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find the next"), {Qt::Key_F3}, &C::findNextWanted},
          {"findPrevious",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Find the previous"),
           {Qt::SHIFT | Qt::Key_F3},
           &C::findPreviousWanted},
          {"goTo",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to a time or step…"),
           {Qt::CTRL | Qt::Key_G},
           &C::goToWanted}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move"),
         {{"zoomIn",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom in"),
           {Qt::Key_W, Qt::Key_Plus, Qt::Key_Equal},
           &C::zoomIn},
          {"zoomOut", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom out"), {Qt::Key_S, Qt::Key_Minus}, &C::zoomOut},
          {"panLeft", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Earlier"), {Qt::Key_A, Qt::Key_Left}, &C::panLeft},
          {"panRight", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Later"), {Qt::Key_D, Qt::Key_Right}, &C::panRight},
          {"scrollUp", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll up"), {Qt::Key_Up}, &C::scrollUp},
          {"scrollDown", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll down"), {Qt::Key_Down}, &C::scrollDown},
          {"fit", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fit the selection, or all"), {Qt::Key_F}, &C::fit},
          {"fitAll", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fit all"), {Qt::Key_0}, &C::fitAll},
          {"zoomToSelected",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom to the selection"),
           {Qt::Key_Return, Qt::Key_Enter},
           &C::zoomToSelected},
          {"goToBegin", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to the begin"), {Qt::Key_Home}, &C::goToBegin},
          {"followEnd",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to the end and follow it"),
           {Qt::Key_End},
           &C::followEnd}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select"),
         {{"selectNext",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the next slice"),
           {Qt::Key_Period},
           &C::selectNext},
          {"selectPrevious",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the previous slice"),
           {Qt::Key_Comma},
           &C::selectPrevious},
          {"selectOuter",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select what it lies in"),
           {Qt::SHIFT | Qt::Key_Up},
           &C::selectOuter},
          {"selectInner",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the first within it"),
           {Qt::SHIFT | Qt::Key_Down},
           &C::selectInner},
          {"selectView",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the range in view"),
           {Qt::Key_R},
           &C::selectView},
          {"letGo",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Let go of marks and selection"),
           {Qt::Key_Escape},
           &C::letGo},
          {"followFlow",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Along the arrow"),
           {Qt::Key_BracketRight},
           &C::followFlow},
          {"followFlowBack",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Back along the arrow"),
           {Qt::Key_BracketLeft},
           &C::followFlowBack},
          {"goToOtherPass",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Between forward and backward"),
           {Qt::Key_Backslash},
           &C::goToOtherPass},
          {"toggleAllFlows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Arrows of all slices in view"),
           {Qt::Key_L},
           &C::toggleAllFlows}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Marks"),
         {{"toggleMark", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Set or remove a mark"), {Qt::Key_M}, &C::toggleMark},
          {"editBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Bookmark with a note…"),
           {Qt::CTRL | Qt::Key_B},
           &C::editBookmark},
          {"removeBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Remove the bookmark"),
           {Qt::CTRL | Qt::SHIFT | Qt::Key_B},
           &C::removeBookmark},
          {"nextBookmark", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Next bookmark"), {Qt::Key_F2}, &C::nextBookmark},
          {"previousBookmark",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Previous bookmark"),
           {Qt::SHIFT | Qt::Key_F2},
           &C::previousBookmark}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Rows"),
         {{"rowUp", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Row above"), {Qt::CTRL | Qt::Key_Up}, &C::rowUp},
          {"rowDown", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Row below"), {Qt::CTRL | Qt::Key_Down}, &C::rowDown},
          {"toggleRow",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fold or unfold the row"),
           {Qt::Key_Space},
           &C::toggleRow},
          {"foldAll",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fold all rows"),
           {Qt::CTRL | Qt::Key_Left},
           &C::foldAll},
          {"unfoldAll",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Unfold all rows"),
           {Qt::CTRL | Qt::Key_Right},
           &C::unfoldAll},
          {"moveRowUp",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move the row up"),
           {Qt::ALT | Qt::Key_Up},
           &C::moveRowUp},
          {"moveRowDown",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Move the row down"),
           {Qt::ALT | Qt::Key_Down},
           &C::moveRowDown},
          {"togglePin",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Keep the row at the top, or let it scroll"),
           {Qt::Key_P},
           &C::togglePin},
          {"hideRow", QT_TRANSLATE_NOOP("app::TimelineCanvas", "Hide the row"), {Qt::Key_H}, &C::hideRow},
          {"showAllRows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Show all hidden rows"),
           {Qt::SHIFT | Qt::Key_H},
           &C::showAllRows},
          {"resetRows",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Arrange the rows as they come"),
           {Qt::CTRL | Qt::ALT | Qt::Key_0},
           &C::resetRows}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Colours"),
         {{"colorByKind", QT_TRANSLATE_NOOP("app::TimelineCanvas", "By kind"), {Qt::CTRL | Qt::Key_1}, &C::colorByKind},
          {"colorByName", QT_TRANSLATE_NOOP("app::TimelineCanvas", "By name"), {Qt::CTRL | Qt::Key_2}, &C::colorByName},
          {"colorByOp",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "By operation"),
           {Qt::CTRL | Qt::Key_3},
           &C::colorByOp}}},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Picture and keys"),
         {{"copyPicture",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Copy as a picture"),
           {Qt::CTRL | Qt::Key_C},
           &C::copyWanted},
          {"savePicture",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "Save as a picture…"),
           {Qt::CTRL | Qt::SHIFT | Qt::Key_S},
           &C::saveWanted},
          {"keys",
           QT_TRANSLATE_NOOP("app::TimelineCanvas", "All keys"),
           {Qt::Key_Question, Qt::Key_F1},
           &C::keysWanted}}},
    };
    return all;
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
            // Letters must not be taken from text fields elsewhere in the window.
            action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
            QObject::connect(action, &QAction::triggered, &canvas, entry.hand);
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
    sheet.append({C::tr("Mouse and touch pad"),
                  {{C::tr("Wheel, pinch"), C::tr("Zoom at the pointer")},
                   {C::tr("Shift+wheel, two fingers"), C::tr("Scroll")},
                   {C::tr("Drag"), C::tr("Move the picture")},
                   {C::tr("Drag on the ruler, Shift+drag"), C::tr("Measure and select a range")},
                   {C::tr("Click, double click"), C::tr("Select a slice, zoom to it")},
                   {C::tr("Drag a row's name, its lower edge"), C::tr("Move it, resize it")}}});
    return sheet;
}

} // namespace app
