#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(opSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View ops()
{
    return {opSubject().title, ViewArea::Bottom, 11, create};
}

} // namespace app::views
