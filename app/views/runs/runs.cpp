#include "app/views/runs/runs_list.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new RunsList(context.session, parent);
}

} // namespace

View runs()
{
    return {QCoreApplication::translate("views", "Runs"), ViewArea::Left, 1, create};
}

} // namespace app::views
