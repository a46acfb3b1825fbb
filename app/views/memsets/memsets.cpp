#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(memsetSubject(), context.session, context.selection, parent);
}

} // namespace

View memsets()
{
    return {memsetSubject().title, ViewArea::Bottom, 13, create};
}

} // namespace app::views
