#include "app/views/step_difference/step_difference_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new StepDifferencePanel(&bench.pair, parent);
}

} // namespace

View step_difference()
{
    return {QCoreApplication::translate("views", "Step difference"), ViewArea::Right, 95, create};
}

} // namespace app::views
