#pragma once

#include "app/look/display_text.h"
#include "profiler/model/result.h"

#include <QObject>
#include <QString>
#include <QStringList>

namespace app {

/// Messages for the user, shown in a strip above the timeline. GUI thread.
class Notices : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

signals:
    /// An error or a notice.
    /// @param what    one sentence
    /// @param detail  details, one per line; may be empty
    void noticed(const QString& what, const QString& detail, bool isError);
    /// The file of the last notice, which the user may want to open.
    void saved(const QString& file);
    /// The user started an action that may emit noticed(); earlier notices are obsolete.
    void outdated();
};

/// The location and the hint of an error, one per line, as details of a one-sentence message.
inline QString detailOf(const profiler::Error& error)
{
    QStringList lines{asQString(error.where), asQString(error.hint)};
    lines.removeAll(QString());
    return lines.join('\n');
}

} // namespace app
