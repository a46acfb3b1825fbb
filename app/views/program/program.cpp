#include "app/document/session.h"
#include "app/services/editor.h"
#include "app/views/program/program_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* panel = new ProgramPanel(parent);
    Session* session = context.session;
    QObject::connect(session, &Session::traceChanged, panel, [=] { panel->setTrace(session->trace()); });
    QObject::connect(panel, &ProgramPanel::lineActivated, session, [=](const QString& file, int line) {
        if (const QString problem = openInEditor(file, line); !problem.isEmpty())
            emit session->noticed(problem, {}, true);
    });
    panel->setTrace(session->trace());
    return panel;
}

} // namespace

View program()
{
    return {QCoreApplication::translate("views", "Program"), ViewArea::Bottom, 6, create};
}

} // namespace app::views
