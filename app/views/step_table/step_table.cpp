#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(stepSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View step_table()
{
    return {stepSubject().title, ViewArea::Bottom, 16, create};
}

} // namespace app::views
