#pragma once

#include <QString>
#include <QToolButton>
#include <QWidget>
#include <functional>
#include <vector>

class QVBoxLayout;

namespace app {

/// Something that can be opened from the start page.
struct Place {
    QString name;               ///< its middle gives way when it is too long
    QString facts;              ///< beside the name, always whole
    QString tip;                ///< what there is to know, a path for one
    std::function<void()> open; ///< none: it is not there any more
};

/// A heading and a short list of places, each a button on one line; hidden while it is empty.
class PlaceList : public QWidget {
    Q_OBJECT
public:
    PlaceList(const QString& objectName, const QString& title, QWidget* parent);

    void setPlaces(std::vector<Place> places);

private:
    QVBoxLayout* m_rows;
};

} // namespace app
