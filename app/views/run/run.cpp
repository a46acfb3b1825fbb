#include "app/views/run/configuration_form.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new ConfigurationForm(&bench.configuration, &bench.levelCosts, &bench.jobs, parent);
}

} // namespace

View run()
{
    return {QCoreApplication::translate("views", "Configuration"), ViewArea::Left, 0, create};
}

} // namespace app::views
