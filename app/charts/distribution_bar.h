#pragma once

#include <QStringList>
#include <QWidget>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace app {

/// A small histogram with one bin marked: where a value lies among others of its kind.
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
