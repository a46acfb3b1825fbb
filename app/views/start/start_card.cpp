#include "app/views/start/start_card.h"

#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace app {

namespace {

class Picture : public QWidget {
public:
    Picture(QString stem, QWidget* parent) : QWidget(parent), m_stem(std::move(stem)) { setFixedSize(32, 32); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.drawPixmap(0, 0, iconPixmap(m_stem, palette().color(QPalette::Highlight), 32, devicePixelRatioF()));
    }

private:
    QString m_stem;
};

} // namespace

StartCard::StartCard(const QString& iconStem, const QString& title, const QString& text, const QString& action,
                     QWidget* parent)
    : QFrame(parent), m_button(new QPushButton(action, this))
{
    auto* heading = new QLabel(title, this);
    QFont font = heading->font();
    font.setPointSizeF(font.pointSizeF() * 1.25);
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    auto* words = new QLabel(text, this);
    words->setWordWrap(true);
    words->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    words->setForegroundRole(QPalette::PlaceholderText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 20, 20, 20);
    layout->setSpacing(8);
    layout->addWidget(new Picture(iconStem, this));
    layout->addWidget(heading);
    layout->addWidget(words, 1);
    layout->addWidget(m_button, 0, Qt::AlignLeft);
    m_button->setMinimumHeight(30);
    m_button->setAccessibleDescription(text);
    setMinimumWidth(200);
    setMaximumWidth(300);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setMinimumHeight(208);
}

void StartCard::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(shades(palette()).panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

} // namespace app
