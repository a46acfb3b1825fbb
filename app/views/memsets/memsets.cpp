#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(memsetSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View memsets()
{
    return {memsetSubject().title, ViewArea::Bottom, 13, create};
}

} // namespace app::views
