#include "app/views/job/job_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new JobPanel(&bench.job, parent);
}

} // namespace

View job()
{
    return {QCoreApplication::translate("views", "Job"), ViewArea::Bottom, 17, create};
}

} // namespace app::views
