#include "app/views/advisor/advisor_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new AdvisorPanel({&bench.notices, &bench.document, &bench.configuration, &bench.jobs, &bench.journal,
                             &bench.experiments, &bench.training},
                            parent);
}

} // namespace

View advisor()
{
    return {QCoreApplication::translate("views", "Advisor"), ViewArea::Right, 0, create};
}

} // namespace app::views
