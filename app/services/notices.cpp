#include "app/services/notices.h"

#include "app/look/qstring.h"

#include <QStringList>

namespace app {

QString detailOf(const profiler::Error& error)
{
    QStringList lines{asQString(error.where), asQString(error.hint)};
    lines.removeAll(QString());
    return lines.join('\n');
}

} // namespace app
