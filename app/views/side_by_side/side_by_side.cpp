#include "app/views/side_by_side/side_by_side_view.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* view = new SideBySideView(&bench.pair, BookmarkStore::standard(), parent);
    QObject::connect(view, &SideBySideView::noticed, &bench.notices, &Notices::noticed);
    return view;
}

} // namespace

View side_by_side()
{
    return {QCoreApplication::translate("views", "Second trace"), ViewArea::Center, 2, create};
}

} // namespace app::views
