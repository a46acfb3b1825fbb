#include "app/views/program/program.h"

#include "advisor/evidence/program_facts.h"
#include "app/look/display_text.h"
#include "app/services/program_process.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/model/trace.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>
#include <utility>

namespace app {

namespace {

enum Column { Name, Value, Where, kColumns };
constexpr int kFileRole = Qt::UserRole;
constexpr int kLineRole = Qt::UserRole + 1;

QString kindName(const std::string& kind)
{
    static const std::pair<const char*, const char*> kNames[] = {
        {"loader", QT_TRANSLATE_NOOP("ProgramPanel", "Data loader")},
        {"model", QT_TRANSLATE_NOOP("ProgramPanel", "Model")},
        {"optimizer", QT_TRANSLATE_NOOP("ProgramPanel", "Optimizer")},
        {"scheduler", QT_TRANSLATE_NOOP("ProgramPanel", "Learning rate schedule")},
        {"scaler", QT_TRANSLATE_NOOP("ProgramPanel", "Gradient scaler")},
        {"clip", QT_TRANSLATE_NOOP("ProgramPanel", "Gradient clipping")},
        {"autocast", QT_TRANSLATE_NOOP("ProgramPanel", "Automatic mixed precision")},
        {"compile", QT_TRANSLATE_NOOP("ProgramPanel", "Compilation")},
        {"zero_grad", QT_TRANSLATE_NOOP("ProgramPanel", "Gradient zeroing")},
        {"backward", QT_TRANSLATE_NOOP("ProgramPanel", "Backward pass")},
        {"optimizer_step", QT_TRANSLATE_NOOP("ProgramPanel", "Optimizer step")},
        {"forward", QT_TRANSLATE_NOOP("ProgramPanel", "Forward pass")},
        {"loss", QT_TRANSLATE_NOOP("ProgramPanel", "Loss")},
        {"validation", QT_TRANSLATE_NOOP("ProgramPanel", "Validation")},
        {"save", QT_TRANSLATE_NOOP("ProgramPanel", "Checkpoint")},
        {"log", QT_TRANSLATE_NOOP("ProgramPanel", "Logging")},
        {"anomaly", QT_TRANSLATE_NOOP("ProgramPanel", "Anomaly detection")},
        {"profiler", QT_TRANSLATE_NOOP("ProgramPanel", "Profiler")},
        {"emit_nvtx", QT_TRANSLATE_NOOP("ProgramPanel", "NVTX ranges")},
        {"flag", QT_TRANSLATE_NOOP("ProgramPanel", "PyTorch setting")},
        {"sync", QT_TRANSLATE_NOOP("ProgramPanel", "Synchronization")},
        {"to", QT_TRANSLATE_NOOP("ProgramPanel", "Copy to a device")},
        {"trainer", QT_TRANSLATE_NOOP("ProgramPanel", "Trainer")},
        {"data_parallel", QT_TRANSLATE_NOOP("ProgramPanel", "Data parallel")},
        {"seed", QT_TRANSLATE_NOOP("ProgramPanel", "Random seed")},
    };
    for (const auto& [key, name] : kNames)
        if (kind == key)
            return ProgramPanel::tr(name);
    return asQString(kind);
}

QString roleName(const std::string& role)
{
    return role == "training"     ? ProgramPanel::tr("training")
           : role == "validation" ? ProgramPanel::tr("validation")
                                  : asQString(role);
}

QStandardItem* cell(const QString& text, const std::optional<advisor::SourcePlace>& site)
{
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    if (site) {
        item->setData(asQString(site->file), kFileRole);
        item->setData(site->line, kLineRole);
    }
    return item;
}

QList<QStandardItem*> row(const QString& name, const QString& value, const std::optional<advisor::SourcePlace>& site)
{
    QList<QStandardItem*> cells{cell(name, site), cell(value, site), cell({}, site)};
    cells[Value]->setToolTip(value);
    if (site) {
        cells[Where]->setText(QString("%1:%2").arg(QFileInfo(asQString(site->file)).fileName()).arg(site->line));
        const QString place = ProgramPanel::tr("%1, line %2").arg(asQString(site->file)).arg(site->line);
        const QString whole =
            site->function.empty() ? place : ProgramPanel::tr("%1, in %2").arg(place, asQString(site->function));
        cells[Where]->setToolTip(ProgramPanel::tr("%1. Press Enter to open it in the editor.").arg(whole));
    }
    return cells;
}

QString valueText(const advisor::ProgramSetting& setting, const std::vector<advisor::ProgramArgument>& arguments)
{
    const QString value = asQString(advisor::settingText(setting.value));
    for (const advisor::ProgramArgument& argument : arguments)
        if (!setting.argument.empty() && argument.dest == setting.argument && !argument.options.empty())
            return ProgramPanel::tr("%1, from %2").arg(value, asQString(argument.options.front()));
    if (setting.configuration)
        return ProgramPanel::tr("%1, from %2 in %3")
            .arg(value, asQString(setting.configuration->what),
                 QFileInfo(asQString(setting.configuration->file)).fileName());
    return setting.given ? value : ProgramPanel::tr("%1 (default)").arg(value);
}

/// The settings that the program passes explicitly, in Python syntax.
QString givenText(const advisor::ProgramObject& object)
{
    QStringList parts;
    for (const advisor::ProgramSetting& setting : object.settings)
        if (setting.given)
            parts << asQString(setting.name) + '=' + asQString(advisor::settingText(setting.value));
    return parts.join(", ");
}

QList<QStandardItem*> objectRow(const advisor::ProgramFacts& facts, const advisor::ProgramObject& object)
{
    const std::string_view className = object.shortName();
    QString name = kindName(object.kind);
    if (!className.empty())
        name += QString(": %1").arg(asQString(className));
    if (!object.role.empty())
        name += QString(" (%1)").arg(roleName(object.role));
    QStringList value{givenText(object)};
    if (object.count > 1)
        value << ProgramPanel::tr("%1 times").arg(object.count);
    if (!object.framework.empty())
        value << ProgramPanel::tr("created by %1").arg(asQString(object.framework));
    value.removeAll(QString());
    auto cells = row(name, value.join("  ·  "), object.site);
    cells[Name]->setToolTip(asQString(object.className));
    for (const advisor::ProgramSetting& setting : object.settings)
        cells[Name]->appendRow(row(asQString(setting.name), valueText(setting, facts.arguments),
                                   setting.configuration ? setting.configuration : object.site));
    for (const advisor::SourcePlace& caller : object.chain)
        cells[Name]->appendRow(row(ProgramPanel::tr("called from %1").arg(asQString(caller.function)), {}, caller));
    return cells;
}

QString headText(const advisor::ProgramFacts& facts)
{
    QStringList parts;
    const std::string& main = facts.module.empty() ? facts.script : facts.module;
    if (!main.empty())
        parts << QFileInfo(asQString(main)).fileName();
    if (!facts.python.empty())
        parts << "Python " + asQString(facts.python);
    if (!facts.torch.empty())
        parts << "PyTorch " + asQString(facts.torch);
    if (!facts.workingDirectory.empty())
        parts << ProgramPanel::tr("in %1").arg(asQString(facts.workingDirectory));
    return parts.join("  ·  ");
}

} // namespace

ProgramPanel::ProgramPanel(QWidget* parent)
    : QWidget(parent), m_head(new QLabel(this)), m_empty(new QLabel(this)), m_filter(new QLineEdit(this)),
      m_tree(new QTreeView(this)), m_model(new QStandardItemModel(0, kColumns, this))
{
    setObjectName("programPanel");
    m_head->setObjectName("programHead");
    m_head->setTextFormat(Qt::PlainText);
    m_head->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_head->setWordWrap(true); // the path may be long
    m_filter->setObjectName("programFilter");
    m_filter->setPlaceholderText(tr("Filter: num_workers"));
    m_filter->setAccessibleName(tr("Filter the program's objects"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(200);
    m_empty->setObjectName("programEmpty");
    m_empty->setWordWrap(true);
    m_empty->setTextFormat(Qt::PlainText);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_model->setHorizontalHeaderLabels({tr("Object"), tr("Settings"), tr("Set in")});
    m_tree->setObjectName("programTree");
    m_tree->setAccessibleName(tr("Objects of the program"));
    m_tree->setModel(m_model);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setUniformRowHeights(true);
    m_tree->setAllColumnsShowFocus(true);
    m_tree->setAlternatingRowColors(true);
    m_tree->setExpandsOnDoubleClick(false);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(Name, QHeaderView::ResizeToContents);
    m_tree->header()->setSectionResizeMode(Value, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(Where, QHeaderView::ResizeToContents);
    connect(m_tree, &QTreeView::activated, this, [this](const QModelIndex& index) {
        if (const QString file = index.data(kFileRole).toString(); !file.isEmpty())
            emit lineActivated(file, index.data(kLineRole).toInt());
    });
    connect(m_filter, &QLineEdit::textChanged, this, &ProgramPanel::filter);
    auto* head = new QHBoxLayout;
    head->addWidget(m_head, 1);
    head->addWidget(m_filter);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 6, 8, 6);
    column->addLayout(head);
    column->addWidget(m_tree, 1);
    column->addWidget(m_empty, 1);
    showText({});
}

void ProgramPanel::setTrace(const std::shared_ptr<const profiler::Trace>& trace)
{
    const auto found = trace->metadata().find("program");
    const std::string& text = found == trace->metadata().end() ? std::string() : found->second;
    if (text != m_shown)
        showText(text);
}

void ProgramPanel::showText(const std::string& text)
{
    m_shown = text;
    m_model->removeRows(0, m_model->rowCount());
    const advisor::ProgramDocument document = text.empty() ? advisor::ProgramDocument() : advisor::readProgram(text);
    const bool hasFacts = document.facts.has_value();
    for (QWidget* widget :
         {static_cast<QWidget*>(m_head), static_cast<QWidget*>(m_filter), static_cast<QWidget*>(m_tree)})
        widget->setVisible(hasFacts);
    m_empty->setVisible(!hasFacts);
    if (!hasFacts) {
        m_empty->setText(!document.problem.text.empty()
                             ? asQString(document.problem.text)
                             : tr("This trace does not contain a Python program. Use File › Record program: its data "
                                  "loaders, models and optimizers are then listed here, with their settings and the "
                                  "lines that set them."));
        return;
    }
    m_head->setText(headText(*document.facts));
    for (const advisor::ProgramObject& object : document.facts->objects)
        m_model->appendRow(objectRow(*document.facts, object));
    filter(m_filter->text());
}

void ProgramPanel::filter(const QString& text)
{
    const auto matches = [&](const QModelIndex& parent, int line) {
        for (int column = 0; column < kColumns; ++column)
            if (m_model->index(line, column, parent).data().toString().contains(text, Qt::CaseInsensitive))
                return true;
        return false;
    };
    for (int line = 0; line < m_model->rowCount(); ++line) {
        const QModelIndex object = m_model->index(line, 0);
        bool isShown = matches({}, line);
        for (int child = 0; !isShown && child < m_model->rowCount(object); ++child)
            isShown = matches(object, child);
        m_tree->setRowHidden(line, {}, !isShown);
    }
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new ProgramPanel(parent);
    Notices* notices = &bench.notices;
    TraceDocument* document = &bench.document;
    QObject::connect(document, &TraceDocument::traceChanged, panel, [=] { panel->setTrace(document->trace()); });
    QObject::connect(panel, &ProgramPanel::lineActivated, notices, [=](const QString& file, int line) {
        if (const QString problem = openInEditor(file, line); !problem.isEmpty())
            emit notices->noticed(problem, {}, true);
    });
    panel->setTrace(document->trace());
    return panel;
}

} // namespace

View program()
{
    return {QCoreApplication::translate("views", "Program"), ViewArea::Bottom, 6, create};
}

} // namespace app::views
