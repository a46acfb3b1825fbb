#include "app/views/flame/flame_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new FlamePanel(&bench.document, parent);
    Notices* notices = &bench.notices;
    QObject::connect(panel, &FlamePanel::noticed, notices,
                     [notices](const QString& what, const QString& detail, bool isError) {
                         emit notices->outdated();
                         emit notices->noticed(what, detail, isError);
                     });
    return panel;
}

} // namespace

View flame()
{
    return {QCoreApplication::translate("views", "Calls"), ViewArea::Bottom, 12, create};
}

} // namespace app::views
