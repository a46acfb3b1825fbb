#include "app/look/labels.h"

#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QCoreApplication>
#include <QPainter>
#include <QStyle>
#include <QWidget>
#include <algorithm>

namespace app {

namespace {

constexpr int kLeastLetters = 8;

} // namespace

QLabel* makeTextLabel(const QString& name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(name);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QLabel* makeEmptyLabel(const QString& name, QWidget* parent)
{
    QLabel* label = makeTextLabel(name, parent);
    label->setAlignment(Qt::AlignCenter);
    label->setForegroundRole(QPalette::PlaceholderText);
    label->setMargin(12);
    return label;
}

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const
{
    const QMargins margins = contentsMargins();
    const int least = kLeastLetters * fontMetrics().averageCharWidth() + margins.left() + margins.right();
    return {std::min(least, sizeHint().width()), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QRect room = contentsRect();
    style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(),
                          fontMetrics().elidedText(text(), Qt::ElideMiddle, room.width()), foregroundRole());
}

void showActive(QLabel& label, const QString& name, bool isActive)
{
    label.setText(isActive && !name.isEmpty() ? QString(QChar(0x25b6)) + QStringLiteral("  ") + name : name);
    QFont font = label.font();
    font.setWeight(isActive ? QFont::Bold : QFont::Normal);
    label.setFont(font);
    label.setForegroundRole(isActive ? QPalette::Link : QPalette::WindowText);
    label.setAccessibleDescription(isActive ? QCoreApplication::translate("Labels", "The menus act on this timeline.")
                                            : QString());
}

void paintNotice(QPainter& painter, const QWidget& strip, const QString& icon, const QColor& tone)
{
    const int width = strip.width(), height = strip.height();
    const QPalette palette = strip.palette();
    painter.fillRect(strip.rect(), blend(palette.color(QPalette::Window), tone, 0.12));
    painter.fillRect(QRect(0, 0, 3, height), tone);
    painter.fillRect(QRect(0, height - 1, width, 1), palette.color(QPalette::Mid));
    painter.drawPixmap(11, 9, iconPixmap(icon, tone, 16, strip.devicePixelRatioF()));
}

} // namespace app
