#pragma once

#include "app/document/evidence_model.h"

#include <QTableView>

class QSortFilterProxyModel;

namespace app {

/// A table of an EvidenceModel. A click on a heading sorts it; a click on a row, or Return, shows its evidence.
class EvidenceTable : public QTableView {
    Q_OBJECT
public:
    explicit EvidenceTable(std::vector<EvidenceModel::Column> columns, const QString& accessibleName,
                           QWidget* parent = nullptr);

    [[nodiscard]] EvidenceModel* evidence() const { return m_model; }
    void setRows(std::vector<EvidenceRow> rows);
    /// Makes the table as high as its rows, for tables inside a scrolling page.
    void setFitsRows(bool fits);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void rowActivated(const app::EvidenceRow& row);

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void activate(const QModelIndex& index);
    [[nodiscard]] int fittedHeight() const;

    EvidenceModel* m_model;
    QSortFilterProxyModel* m_sorted;
    bool m_fits = false;
};

} // namespace app
