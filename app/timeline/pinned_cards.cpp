#include "app/timeline/pinned_cards.h"

#include "app/look/icon.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QToolButton>
#include <algorithm>

namespace app {

namespace {

constexpr int kWidest = 420;
constexpr QPoint kOffset{16, 16}; ///< from the pointer

QLabel* textLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText); // names come from the trace
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    return label;
}

} // namespace

std::vector<SliceDetail> tooltipFacts(const TimelineScene& scene, const profiler::Slice& slice)
{
    std::vector<SliceDetail> facts = sliceFacts(*scene.trace, slice);
    if (scene.hasSteps() && stepAt(*scene.steps, slice.begin))
        facts.push_back(
            {QCoreApplication::translate("Timeline", "Starts in"), stepPlace(*scene.steps, slice.begin), {}});
    return facts;
}

PinnedCard::PinnedCard(const QString& title, const std::vector<SliceDetail>& facts, const QColor& edge, QWidget* parent)
    : QFrame(parent), m_text(title)
{
    setObjectName("pinnedTooltip");
    setAccessibleName(tr("Pinned tooltip of %1").arg(title));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setFocusPolicy(Qt::ClickFocus);
    setCursor(Qt::ArrowCursor);
    setMaximumWidth(kWidest);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(8, 4, 4, 8);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    auto* bar = new QFrame(this);
    bar->setAutoFillBackground(true);
    bar->setBackgroundRole(QPalette::Window); // not that of the card
    QPalette colors = bar->palette();
    colors.setColor(QPalette::Window, edge);
    bar->setPalette(colors);
    bar->setFixedHeight(3);
    grid->addWidget(bar, 0, 0, 1, 4);
    grid->addWidget(textLabel(title, this), 1, 0, 1, 2);
    const auto addButton = [&](const char* iconStem, const QString& what, int column) {
        auto* button = new QToolButton(this);
        button->setIcon(icon(QLatin1String(iconStem)));
        button->setAutoRaise(true);
        button->setToolTip(what);
        button->setAccessibleName(what);
        grid->addWidget(button, 1, column, Qt::AlignTop);
        return button;
    };
    auto* copy = addButton("copy", tr("Copy"), 2);
    copy->setObjectName("pinnedCopy");
    connect(copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text); });
    connect(addButton("close", tr("Close (Esc)"), 3), &QToolButton::clicked, this, &QWidget::deleteLater);
    int row = 2;
    for (const SliceDetail& fact : facts) {
        auto* label = new QLabel(fact.label, this);
        label->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(label, row, 0, Qt::AlignTop);
        grid->addWidget(textLabel(fact.value, this), row++, 1, 1, 3);
        m_text += QStringLiteral("\n%1: %2").arg(fact.label, fact.value);
    }
}

void PinnedCard::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        deleteLater();
    else if (event->matches(QKeySequence::Copy))
        QApplication::clipboard()->setText(m_text);
    else
        QFrame::keyPressEvent(event);
}

void PinnedCard::mousePressEvent(QMouseEvent* event)
{
    m_grip = event->position().toPoint();
    raise();
    event->accept(); // not a click on the timeline below
}

void PinnedCard::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton) && parentWidget()) {
        const QPoint to = mapToParent(event->position().toPoint()) - m_grip;
        move(std::clamp(to.x(), 0, std::max(0, parentWidget()->width() - width())),
             std::clamp(to.y(), 0, std::max(0, parentWidget()->height() - height())));
    }
    event->accept();
}

void PinnedCards::pin()
{
    const bool pointed = m_scene.pointerInside && m_scene.hovered;
    const auto& slice = pointed ? m_scene.hovered : m_scene.selected;
    if (m_scene.isEmpty() || !slice)
        return;
    std::erase_if(m_cards, [](const auto& card) { return card.isNull(); });
    if (m_cards.size() >= kMost)
        delete m_cards.front();
    QWidget* viewport = m_area.viewport();
    auto* card = new PinnedCard(sliceTitle(*m_scene.trace, *slice), tooltipFacts(m_scene, *slice),
                                m_scene.colors(slice->kind, slice->name, m_scene.theme.dark).fill, viewport);
    card->resize(card->sizeHint().boundedTo(QSize(kWidest, viewport->height())));
    if (card->layout()->hasHeightForWidth())
        card->resize(card->width(), card->layout()->totalHeightForWidth(card->width()));
    const QPoint at = (pointed ? m_scene.pointer.toPoint() : m_scene.rectOf(*slice).topLeft().toPoint()) + kOffset;
    card->move(std::clamp(at.x(), 0, std::max(0, viewport->width() - card->width())),
               std::clamp(at.y(), 0, std::max(0, viewport->height() - card->height())));
    card->show();
    m_cards.emplace_back(card);
}

bool PinnedCards::closeLast()
{
    std::erase_if(m_cards, [](const auto& card) { return card.isNull(); });
    if (m_cards.empty())
        return false;
    delete m_cards.back();
    m_cards.pop_back();
    return true;
}

void PinnedCards::closeAll()
{
    while (closeLast()) {
    }
}

} // namespace app
