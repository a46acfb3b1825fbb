#include "app/views/tune/tune_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new TunePanel(&bench.tuning, &bench.configuration, &bench.document, &bench.journal, &bench.jobs,
                         &bench.reports, &bench.runs, parent);
}

} // namespace

View tune()
{
    return {QCoreApplication::translate("views", "Tune"), ViewArea::Bottom, 5, create};
}

} // namespace app::views
