#include "app/views/memory/memory_panel.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new MemoryPanel(&bench.document, parent);
    Notices* notices = &bench.notices;
    QObject::connect(panel, &MemoryPanel::noticed, notices,
                     [notices](const QString& what, const QString& detail, bool isError) {
                         emit notices->outdated();
                         emit notices->noticed(what, detail, isError);
                     });
    return panel;
}

} // namespace

View memory()
{
    return {QCoreApplication::translate("views", "Memory"), ViewArea::Bottom, 12, create};
}

} // namespace app::views
