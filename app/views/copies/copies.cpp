#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(copySubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View copies()
{
    return {copySubject().title, ViewArea::Bottom, 12, create};
}

} // namespace app::views
