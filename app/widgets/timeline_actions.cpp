#include "app/widgets/timeline_canvas.h"

#include <QAction>
#include <QKeySequence>

namespace app {

namespace {

struct Entry {
    const char* text;
    std::initializer_list<QKeyCombination> keys;
    void (TimelineCanvas::*hand)();
    bool separator = false; ///< a line follows in the menu
};

} // namespace

void addTimelineActions(TimelineCanvas& canvas)
{
    const Entry entries[] = {
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom in"),
         {Qt::Key_W, Qt::Key_Plus, Qt::Key_Equal},
         &TimelineCanvas::zoomIn},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom out"), {Qt::Key_S, Qt::Key_Minus}, &TimelineCanvas::zoomOut},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Earlier"), {Qt::Key_A, Qt::Key_Left}, &TimelineCanvas::panLeft},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Later"), {Qt::Key_D, Qt::Key_Right}, &TimelineCanvas::panRight},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll up"), {Qt::Key_Up}, &TimelineCanvas::scrollUp},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Scroll down"), {Qt::Key_Down}, &TimelineCanvas::scrollDown},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fit the selection, or all"), {Qt::Key_F}, &TimelineCanvas::fit},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Zoom to the selection"),
         {Qt::Key_Return, Qt::Key_Enter},
         &TimelineCanvas::zoomToSelected},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to the begin"), {Qt::Key_Home}, &TimelineCanvas::goToBegin},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Go to the end and follow it"),
         {Qt::Key_End},
         &TimelineCanvas::followEnd,
         true},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the next slice"),
         {Qt::Key_Period},
         &TimelineCanvas::selectNext},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Select the previous slice"),
         {Qt::Key_Comma},
         &TimelineCanvas::selectPrevious},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Set or remove the mark"), {Qt::Key_M}, &TimelineCanvas::toggleMark},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Let go of mark and selection"),
         {Qt::Key_Escape},
         &TimelineCanvas::letGo,
         true},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Row above"), {Qt::CTRL | Qt::Key_Up}, &TimelineCanvas::rowUp},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Row below"), {Qt::CTRL | Qt::Key_Down}, &TimelineCanvas::rowDown},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fold or unfold the row"),
         {Qt::Key_Space},
         &TimelineCanvas::toggleRow},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Fold all rows"),
         {Qt::CTRL | Qt::Key_Left},
         &TimelineCanvas::foldAll},
        {QT_TRANSLATE_NOOP("app::TimelineCanvas", "Unfold all rows"),
         {Qt::CTRL | Qt::Key_Right},
         &TimelineCanvas::unfoldAll},
    };
    for (const Entry& entry : entries) {
        auto* action = new QAction(TimelineCanvas::tr(entry.text), &canvas);
        QList<QKeySequence> keys;
        for (const QKeyCombination key : entry.keys)
            keys.append(QKeySequence(key));
        action->setShortcuts(keys);
        // Letters must not be taken from text fields elsewhere in the window.
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        QObject::connect(action, &QAction::triggered, &canvas, entry.hand);
        canvas.addAction(action);
        if (entry.separator) {
            auto* line = new QAction(&canvas);
            line->setSeparator(true);
            canvas.addAction(line);
        }
    }
}

} // namespace app
