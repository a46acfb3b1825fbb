#include "app/views/start/start_page.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new StartPage(&bench.notices, &bench.configuration, &bench.training, &bench.jobs, &bench.runs,
                         &bench.document, &bench.machine, parent);
}

} // namespace

View start()
{
    return {QCoreApplication::translate("views", "Start"), ViewArea::Start, 0, create};
}

} // namespace app::views
