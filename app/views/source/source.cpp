#include "app/views/source/source_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new SourcePanel(context, parent);
}

} // namespace

View source()
{
    return {QCoreApplication::translate("views", "Source"), ViewArea::Bottom, 7, create};
}

} // namespace app::views
