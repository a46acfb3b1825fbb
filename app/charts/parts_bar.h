#pragma once

#include "app/document/step_parts.h"

#include <QWidget>
#include <vector>

namespace app {

/// A horizontal bar of the parts of a whole, each with its colour, and with its label and share if there is space.
class PartsBar : public QWidget {
    Q_OBJECT
public:
    struct Part {
        SliceClass which = SliceClass::Other;
        QString name;
        double share = 0; ///< share of the whole, [0, 1]
        QString tip;
    };
    explicit PartsBar(QWidget* parent = nullptr);

    void setParts(std::vector<Part> parts);
    [[nodiscard]] QSize sizeHint() const override { return {400, 34}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, 34}; }

signals:
    void partChosen(int part);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] int partAt(double x) const;

    std::vector<Part> m_parts;
};

} // namespace app
