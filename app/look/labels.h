#pragma once

#include <QLabel>
#include <QString>

class QColor;
class QPainter;

// Labels and the look of notice strips, the same in all panels.
namespace app {

/// A label of plain, wrapping text that can be selected and copied.
QLabel* makeTextLabel(const QString& name, QWidget* parent);
/// The centred text of an empty view: what to do next.
QLabel* makeEmptyLabel(const QString& name, QWidget* parent);

/// A one-line plain text label that is elided in the middle if there is not enough space. Screen readers get the whole
/// text.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent);

    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// Shows the name of one of two traces on its label, with a sign if the commands of the menus act on its timeline.
void showActive(QLabel& label, const QString& name, bool isActive);

/// Space for the icon at the left of a notice strip.
constexpr int kNoticeSignRoom = 34;
/// Paints the background and the icon of a notice strip.
/// @param tone  colour of the icon, also used to tint the background
void paintNotice(QPainter& painter, const QWidget& strip, const QString& icon, const QColor& tone);

} // namespace app
