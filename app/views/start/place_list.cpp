#include "app/views/start/place_list.h"

#include "app/look/icon.h"

#include <QLabel>
#include <QStyleOptionToolButton>
#include <QStylePainter>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr auto kBetween = "  ·  ";

/// A button that elides its name in favour of its details.
class PlaceButton : public QToolButton {
public:
    PlaceButton(const Place& place, QWidget* parent) : QToolButton(parent), m_place(place)
    {
        setText(place.facts.isEmpty() ? place.name : place.name + kBetween + place.facts);
        setAccessibleName(text());
        setToolTip(place.tip);
        setAutoRaise(true);
        setFocusPolicy(Qt::StrongFocus);
        setEnabled(place.open != nullptr);
        setIcon(app::icon(place.open ? "trace" : "unknown", QPalette::PlaceholderText));
        setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        if (place.open)
            connect(this, &QToolButton::clicked, this, place.open);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QStyleOptionToolButton option;
        initStyleOption(&option);
        const QString facts = m_place.facts.isEmpty() ? QString() : kBetween + m_place.facts;
        const int room = width() - iconSize().width() - fontMetrics().horizontalAdvance(facts) - 16;
        option.text = fontMetrics().elidedText(m_place.name, Qt::ElideMiddle, room) + facts;
        QStylePainter(this).drawComplexControl(QStyle::CC_ToolButton, option);
    }

private:
    Place m_place;
};

} // namespace

PlaceList::PlaceList(const QString& objectName, const QString& title, QWidget* parent)
    : QWidget(parent), m_rows(new QVBoxLayout)
{
    setObjectName(objectName);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* heading = new QLabel(title, this);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    heading->setContentsMargins(4, 0, 0, 2);
    m_rows->setSpacing(0);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 18, 0, 0);
    column->setSpacing(0);
    column->addWidget(heading);
    column->addLayout(m_rows);
    column->addStretch(1);
    hide();
}

void PlaceList::setPlaces(std::vector<Place> places)
{
    while (QLayoutItem* item = m_rows->takeAt(0)) {
        // Deferred: the list may change while one of its buttons handles a click.
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    for (const Place& place : places)
        m_rows->addWidget(new PlaceButton(place, this));
    setVisible(!places.empty());
}

} // namespace app
