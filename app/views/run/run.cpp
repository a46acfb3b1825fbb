#include "app/views/run/configuration_form.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new ConfigurationForm(context.session, parent);
}

} // namespace

View run()
{
    return {QCoreApplication::translate("views", "Configuration"), ViewArea::Left, 0, create};
}

} // namespace app::views
