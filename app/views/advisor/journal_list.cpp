#include "app/views/advisor/journal_list.h"

#include "app/document/finding_text.h"
#include "app/look/icon.h"
#include "app/look/number_format.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace {

/// A bar proportional to the speedup, with its value.
class FactorBar : public QWidget {
public:
    FactorBar(double factor, double most, QWidget* parent) : QWidget(parent), m_factor(factor), m_most(most)
    {
        setFixedHeight(fontMetrics().height() + 6);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        // All bars are scaled to the largest factor, and all start after the widest value.
        const double figures =
            std::max(fontMetrics().horizontalAdvance("00.00 ×"), fontMetrics().horizontalAdvance(formatRatio(m_most))) +
            8;
        QColor fill = palette().color(QPalette::Highlight);
        fill.setAlphaF(0.55F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(
            QRectF(figures, 3, std::max(2.0, (width() - figures) * m_factor / m_most), height() - 6), 3, 3);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QRectF(0, 0, figures - 8, height()), Qt::AlignRight | Qt::AlignVCenter, formatRatio(m_factor));
    }

private:
    double m_factor, m_most;
};

QLabel* makeLabel(const QString& text, QPalette::ColorRole role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(role);
    return label;
}

} // namespace

JournalList::JournalList(JournalStore* journal, QWidget* parent) : QWidget(parent), m_journal(journal)
{
    setObjectName("journal");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 6, 4, 6);
    auto* title = makeLabel(tr("Journal"), QPalette::WindowText, this);
    QFont font = title->font();
    font.setWeight(QFont::DemiBold);
    title->setFont(font);
    layout->addWidget(title);
    m_rows = new QWidget(this);
    layout->addWidget(m_rows);
    connect(m_journal, &JournalStore::changed, this, &JournalList::showChanges);
    showChanges();
}

void JournalList::showChanges()
{
    const Journal& journal = m_journal->shown();
    setVisible(!journal.changes.empty() || !journal.predictions.empty());
    // Deferred: the change may come from a button of a card that is handling a click.
    QWidget* old = m_rows;
    m_rows = new QWidget(this);
    m_layout = new QVBoxLayout(m_rows);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(2);
    delete layout()->replaceWidget(old, m_rows); // the caller owns the item of the old widget
    old->hide();
    old->deleteLater();

    double most = 1;
    for (std::size_t i = 1; i <= journal.changes.size(); ++i)
        most = std::max(most, journal.factorAfter(i));
    if (!journal.changes.empty()) {
        m_layout->addWidget(makeLabel(tr("Before any change"), QPalette::WindowText, m_rows));
        m_layout->addWidget(new FactorBar(1, most, m_rows));
    }
    for (std::size_t i = 0; i < journal.changes.size(); ++i)
        addChange(journal.changes[i], journal.factorAfter(i + 1), most);
    if (const QString predictions = predictionsText(journal); !predictions.isEmpty()) {
        auto* label = makeLabel(predictions, QPalette::PlaceholderText, m_rows);
        label->setObjectName("predictions");
        m_layout->addSpacing(4);
        m_layout->addWidget(label);
    }
}

void JournalList::addChange(const KeptChange& change, double factor, double most)
{
    auto* line = new QHBoxLayout;
    line->addWidget(makeLabel(toggleText(change.toggle), QPalette::WindowText, m_rows), 1);
    auto* undo = new QToolButton(m_rows);
    undo->setObjectName("undo:" + change.ruleId);
    undo->setIcon(icon("undo"));
    undo->setAutoRaise(true);
    undo->setFocusPolicy(Qt::StrongFocus);
    undo->setToolTip(tr("Remove the change from the configuration"));
    undo->setAccessibleName(tr("Undo %1").arg(toggleText(change.toggle)));
    connect(undo, &QToolButton::clicked, m_journal, [journal = m_journal, id = change.ruleId] { journal->undo(id); });
    line->addWidget(undo, 0, Qt::AlignTop);
    m_layout->addLayout(line);
    m_layout->addWidget(makeLabel(predictedAndMeasured(change.result), QPalette::PlaceholderText, m_rows));
    m_layout->addWidget(new FactorBar(factor, most, m_rows));
}

} // namespace app
