#include "app/views/selection/selection_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new SelectionPanel(bench.document.selection(), parent);
    TraceDocument* document = &bench.document;
    QObject::connect(document, &TraceDocument::traceChanged, panel,
                     [=] { panel->setTrace(document->trace(), document->path()); });
    QObject::connect(document, &TraceDocument::analysedChanged, panel, [=] {
        const auto analysed = document->analysed();
        using Steps = std::vector<profiler::analysis::Step>;
        panel->setSteps(analysed ? std::shared_ptr<const Steps>(analysed, &analysed->facts.steps) : nullptr);
    });
    QObject::connect(document, &TraceDocument::adviceChanged, panel, [=] { panel->setAdvice(document->advice()); });
    panel->setTrace(document->trace(), document->path());
    return panel;
}

} // namespace

View selection()
{
    return {QCoreApplication::translate("views", "Selection"), ViewArea::Bottom, 1, create};
}

} // namespace app::views
