#include "app/views/tune/tune_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new TunePanel(context.session, parent);
}

} // namespace

View tune()
{
    return {QCoreApplication::translate("views", "Tune"), ViewArea::Bottom, 5, create};
}

} // namespace app::views
