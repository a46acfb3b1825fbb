#include "app/views/runs/runs_list.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new RunsList(&bench.runs, &bench.configuration, &bench.document, parent);
}

} // namespace

View runs()
{
    return {QCoreApplication::translate("views", "Runs"), ViewArea::Left, 1, create};
}

} // namespace app::views
