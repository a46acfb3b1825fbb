#include "app/views/compare/compare_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new ComparePanel(context.session, parent);
}

} // namespace

View compare()
{
    return {QCoreApplication::translate("views", "Compare"), ViewArea::Bottom, 90, create};
}

} // namespace app::views
