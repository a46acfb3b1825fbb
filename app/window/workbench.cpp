#include "app/window/workbench.h"

namespace app {

Workbench::Workbench()
{
    QObject::connect(&document, &TraceDocument::configurationFound, &configuration, &ConfigurationModel::set);
    QObject::connect(&document, &TraceDocument::configurationRead, &configuration, &ConfigurationModel::setLoaded);
    QObject::connect(&document, &TraceDocument::configurationRefused, &configuration, &ConfigurationModel::refuse);
}

} // namespace app
