#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(copySubject(), context.session, context.selection, parent);
}

} // namespace

View copies()
{
    return {copySubject().title, ViewArea::Bottom, 12, create};
}

} // namespace app::views
