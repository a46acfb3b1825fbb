#include "app/views/advisor/advisor_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new AdvisorPanel(context, parent);
}

} // namespace

View advisor()
{
    return {QCoreApplication::translate("views", "Advisor"), ViewArea::Right, 0, create};
}

} // namespace app::views
