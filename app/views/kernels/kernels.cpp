#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(kernelSubject(), context.session, context.selection, parent);
}

} // namespace

View kernels()
{
    return {kernelSubject().title, ViewArea::Bottom, 10, create};
}

} // namespace app::views
