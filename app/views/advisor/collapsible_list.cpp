#include "app/views/advisor/collapsible_list.h"

#include "advisor/verdict.h"
#include "app/look/icon.h"

#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

namespace app {

CollapsibleList::CollapsibleList(const QString& name, QWidget* parent)
    : QWidget(parent), m_heading(new QToolButton(this)), m_body(new QLabel(this))
{
    setObjectName(name);
    m_heading->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_heading->setAutoRaise(true);
    m_heading->setFocusPolicy(Qt::StrongFocus);
    m_body->setWordWrap(true);
    m_body->setTextFormat(Qt::RichText);
    m_body->setContentsMargins(22, 0, 4, 4);
    m_body->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(m_heading);
    layout->addWidget(m_body);
    fold(true);
    connect(m_heading, &QToolButton::clicked, this, [this] { fold(m_body->isVisibleTo(this)); });
}

void CollapsibleList::fold(bool folded)
{
    m_body->setVisible(!folded);
    m_heading->setIcon(icon(folded ? "expand" : "collapse", QPalette::PlaceholderText));
}

void CollapsibleList::show(const QString& title, const std::vector<advisor::RuleAdvice>& rules)
{
    std::vector<Entry> entries;
    for (const advisor::RuleAdvice& rule : rules)
        entries.push_back({QString::fromStdString(rule.advice.title), QString::fromStdString(reasonText(rule.advice))});
    show(title, entries);
}

void CollapsibleList::show(const QString& title, const std::vector<Entry>& entries, const QString& note)
{
    setVisible(!entries.empty());
    m_heading->setText(QString("%1 (%2)").arg(title).arg(entries.size()));
    QString text = note.isEmpty() ? QString() : QString("<p style='margin:0 0 6px 0'>%1</p>").arg(note.toHtmlEscaped());
    for (const Entry& entry : entries)
        text += QString("<p style='margin:0 0 6px 0'><b>%1</b><br>%2</p>")
                    .arg(entry.title.toHtmlEscaped(), entry.text.toHtmlEscaped().replace('\n', "<br>"));
    m_body->setText(text);
}

} // namespace app
