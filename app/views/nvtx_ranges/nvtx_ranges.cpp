#include "app/tables/table_panel.h"
#include "app/views/view.h"

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return makeTablePanel(rangeSubject(), context.session, context.selection, parent);
}

} // namespace

View nvtx_ranges()
{
    return {rangeSubject().title, ViewArea::Bottom, 15, create};
}

} // namespace app::views
