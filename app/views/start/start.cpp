#include "app/views/start/start_page.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new StartPage(context.session, parent);
}

} // namespace

View start()
{
    return {QCoreApplication::translate("views", "Start"), ViewArea::Start, 0, create};
}

} // namespace app::views
