#pragma once

#include "app/document/step_parts.h"

#include <QStringList>
#include <QWidget>
#include <cstddef>
#include <cstdint>
#include <vector>

// Bars as low as a few lines of text, for panels with other content.
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

/// A small histogram with one bin marked: the position of a value among others of its kind.
class DistributionBar : public QWidget {
    Q_OBJECT
public:
    explicit DistributionBar(QWidget* parent = nullptr);

    /// @param marked  the bin that contains the value
    /// @param tips    a tooltip per bin
    void setBins(std::vector<std::int64_t> bins, std::size_t marked, QStringList tips);
    [[nodiscard]] QSize sizeHint() const override { return {220, 40}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {96, 40}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] double binWidth() const;

    std::vector<std::int64_t> m_bins;
    std::size_t m_marked = 0;
    QStringList m_tips;
};

} // namespace app
