#include "app/tables/table_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return makeTablePanel(kernelSubject(), &bench.document, &bench.notices, parent);
}

} // namespace

View kernels()
{
    return {kernelSubject().title, ViewArea::Bottom, 10, create};
}

} // namespace app::views
