#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(stepSubject(), context.session, context.selection, parent);
}

} // namespace

View step_table()
{
    return {stepSubject().title, ViewArea::Bottom, 16, create};
}

} // namespace app::views
