#include "app/views/source/source_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new SourcePanel({&bench.notices, &bench.document, &bench.configuration, &bench.jobs, &bench.journal,
                            &bench.experiments, &bench.training},
                           parent);
}

} // namespace

View source()
{
    return {QCoreApplication::translate("views", "Source"), ViewArea::Bottom, 7, create};
}

} // namespace app::views
