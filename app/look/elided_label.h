#pragma once

#include <QLabel>

namespace app {

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

} // namespace app
