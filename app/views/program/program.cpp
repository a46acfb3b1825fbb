#include "app/services/editor.h"
#include "app/views/program/program_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new ProgramPanel(parent);
    Notices* notices = &bench.notices;
    TraceDocument* document = &bench.document;
    QObject::connect(document, &TraceDocument::traceChanged, panel, [=] { panel->setTrace(document->trace()); });
    QObject::connect(panel, &ProgramPanel::lineActivated, notices, [=](const QString& file, int line) {
        if (const QString problem = openInEditor(file, line); !problem.isEmpty())
            emit notices->noticed(problem, {}, true);
    });
    panel->setTrace(document->trace());
    return panel;
}

} // namespace

View program()
{
    return {QCoreApplication::translate("views", "Program"), ViewArea::Bottom, 6, create};
}

} // namespace app::views
