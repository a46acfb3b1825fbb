#include "app/views/timeline/key_sheet.h"

#include "app/timeline/timeline_actions.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr int kColumns = 3;

QWidget* topicBox(const KeyTopic& topic, QWidget* parent)
{
    auto* box = new QWidget(parent);
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(3);
    grid->setHorizontalSpacing(14);
    auto* title = new QLabel(topic.title, box);
    QFont bold = title->font();
    bold.setWeight(QFont::DemiBold);
    title->setFont(bold);
    grid->addWidget(title, 0, 0, 1, 2);
    int row = 1;
    for (const auto& [keys, what] : topic.keys) {
        auto* key = new QLabel(keys, box);
        key->setFont(bold);
        key->setTextFormat(Qt::PlainText);
        grid->addWidget(key, row, 0, Qt::AlignTop);
        auto* text = new QLabel(what, box);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        grid->addWidget(text, row++, 1, Qt::AlignTop);
    }
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(row, 1);
    return box;
}

} // namespace

KeySheet::KeySheet(const TimelineCanvas& canvas, QWidget* parent) : QDialog(parent)
{
    setWindowTitle(tr("Keyboard shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 16, 20, 12);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(36);
    grid->setVerticalSpacing(18);
    int place = 0;
    for (const KeyTopic& topic : timelineKeys(canvas)) {
        grid->addWidget(topicBox(topic, this), place / kColumns, place % kColumns);
        ++place;
    }
    column->addLayout(grid);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    resize(1080, 560);
}

} // namespace app
