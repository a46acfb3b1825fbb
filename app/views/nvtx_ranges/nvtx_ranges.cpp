#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(rangeSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View nvtx_ranges()
{
    return {rangeSubject().title, ViewArea::Bottom, 15, create};
}

} // namespace app::views
