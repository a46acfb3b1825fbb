#pragma once

#include <QString>
#include <QToolButton>
#include <QWidget>
#include <functional>
#include <vector>

class QVBoxLayout;

namespace app {

/// An item that can be opened from the start page.
struct Place {
    QString name;               ///< elided in the middle if too long
    QString facts;              ///< after the name, never elided
    QString tip;                ///< tooltip, for example the path
    std::function<void()> open; ///< none: the item no longer exists
};

/// A heading and a short list of items, one button per line; hidden while empty.
class PlaceList : public QWidget {
    Q_OBJECT
public:
    PlaceList(const QString& objectName, const QString& title, QWidget* parent);

    void setPlaces(std::vector<Place> places);

private:
    QVBoxLayout* m_rows;
};

} // namespace app
