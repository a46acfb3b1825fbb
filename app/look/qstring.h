#pragma once

#include <QString>
#include <string_view>

namespace app {

/// UTF-8 text of the other modules for Qt.
inline QString asQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace app
