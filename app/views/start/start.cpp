#include "app/views/start/start_page.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>
#include <QScrollArea>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    // Panels may be shown before the page is replaced by a trace: in a low window, the page must not need its height.
    auto* area = new QScrollArea(parent);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setWidget(new StartPage(&bench.notices, &bench.configuration, &bench.training, &bench.jobs, &bench.runs,
                                  &bench.document, &bench.machine, area));
    return area;
}

} // namespace

View start()
{
    return {QCoreApplication::translate("views", "Start"), ViewArea::Start, 0, create};
}

} // namespace app::views
