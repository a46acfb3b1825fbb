#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(runtimeSubject(), context.session, context.selection, parent);
}

} // namespace

View runtime_calls()
{
    return {runtimeSubject().title, ViewArea::Bottom, 14, create};
}

} // namespace app::views
