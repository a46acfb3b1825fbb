#include "app/views/query/query_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new QueryPanel(&bench.document, &bench.notices, parent);
}

} // namespace

View query()
{
    return {QCoreApplication::translate("views", "Query"), ViewArea::Bottom, 80, create};
}

} // namespace app::views
