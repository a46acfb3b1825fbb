#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(opSubject(), context.session, context.selection, parent);
}

} // namespace

View ops()
{
    return {opSubject().title, ViewArea::Bottom, 11, create};
}

} // namespace app::views
