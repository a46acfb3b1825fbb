#include "app/views/compare/compare_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new ComparePanel(&bench.document, &bench.runs, &bench.pair, parent);
}

} // namespace

View compare()
{
    return {QCoreApplication::translate("views", "Compare"), ViewArea::Bottom, 90, create};
}

} // namespace app::views
