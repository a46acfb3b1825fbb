#pragma once

#include <QLabel>

namespace app {

/// Plain text on one line that gives way: where there is no room for it, its middle is left out. Screen readers
/// have all of it.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent);

    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace app
