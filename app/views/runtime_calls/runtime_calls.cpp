#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(runtimeSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View runtime_calls()
{
    return {runtimeSubject().title, ViewArea::Bottom, 14, create};
}

} // namespace app::views
