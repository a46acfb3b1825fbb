#include "app/views/summary/device_summary.h"

#include "app/charts/parts_bar.h"
#include "app/look/number_format.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr std::size_t kTopKernels = 12;

QLabel* heading(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

double ns(profiler::Nanoseconds time)
{
    return static_cast<double>(time.count());
}

EvidenceRow shareRow(const QString& name, profiler::Nanoseconds time, profiler::Nanoseconds whole, SliceClass colour)
{
    const double share = whole.count() > 0 ? ns(time) / ns(whole) : 0;
    EvidenceRow row;
    row.cells = {{name, 0}, {formatDuration(time), ns(time)}, {formatShare(share), share}};
    row.swatch = colour;
    return row;
}

} // namespace

DeviceSummary::DeviceSummary(QWidget* parent)
    : QWidget(parent), m_breakdownHead(heading(tr("Where the step time goes"), this)),
      m_devicesHead(heading(tr("Devices"), this)), m_devicesText(new QLabel(this)),
      m_idleHead(heading(tr("Why the GPUs were idle"), this)), m_kernelsHead(heading(tr("Top kernels"), this)),
      m_bar(new PartsBar(this))
{
    const auto table = [this](const QString& what, const QString& name, const char* objectName) {
        auto* made = new EvidenceTable({{what, false}, {tr("Time"), true}, {tr("Share"), true}}, name, this);
        made->setObjectName(QString::fromLatin1(objectName));
        made->setFitsRows(true);
        return made;
    };
    m_breakdown = table(tr("Activity"), tr("Where the step time goes"), "breakdown");
    m_idle = table(tr("Cause"), tr("Causes of GPU idle time"), "idleCauses");
    m_kernels = table(tr("Kernel"), tr("Top kernels"), "topKernels");
    m_devicesText->setObjectName("devices");
    m_devicesText->setTextFormat(Qt::PlainText);
    m_devicesText->setWordWrap(true);
    m_devicesText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 8);
    column->setSpacing(6);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_breakdownHead, m_bar, m_breakdown, m_devicesHead,
                                                           m_devicesText, m_idleHead, m_idle, m_kernelsHead, m_kernels})
        column->addWidget(widget);
    connect(m_kernels, &EvidenceTable::rowActivated, this,
            [this](const EvidenceRow& row) { emit evidenceChosen(row.evidence); });
}

void DeviceSummary::show(const TraceSummary& summary)
{
    showBreakdown(summary.breakdown);
    showDevices(summary);
    showKernels(summary.kernels.get());
    // A CPU-only trace already shows all of this in its phases.
    setVisible(!summary.devices.empty());
}

void DeviceSummary::showBreakdown(const analysis::Breakdown& breakdown)
{
    std::vector<EvidenceRow> rows;
    std::vector<PartsBar::Part> parts;
    for (std::size_t i = 0; i < analysis::kTimeClasses; ++i) {
        const auto timeClass = static_cast<analysis::TimeClass>(i);
        if (breakdown.time[i].count() <= 0)
            continue;
        const QString word = timeClassWord(timeClass);
        const double share = breakdown.share(timeClass);
        rows.push_back(shareRow(word, breakdown.time[i], breakdown.total, timeClassColour(timeClass)));
        parts.push_back({timeClassColour(timeClass), word, share, word + QStringLiteral(": ") + formatShare(share)});
    }
    for (QWidget* widget : std::initializer_list<QWidget*>{m_breakdownHead, m_bar, m_breakdown})
        widget->setVisible(!rows.empty());
    m_bar->setParts(std::move(parts));
    m_breakdown->setRows(std::move(rows));
}

void DeviceSummary::showDevices(const TraceSummary& summary)
{
    QStringList lines;
    for (const analysis::DeviceUse& device : summary.devices)
        lines << deviceSentence(device);
    m_devicesText->setText(lines.join('\n'));
    profiler::Nanoseconds idle{};
    for (const analysis::IdleCause& cause : summary.idle)
        idle += cause.time;
    std::vector<EvidenceRow> rows;
    for (const analysis::IdleCause& cause : summary.idle)
        rows.push_back(shareRow(idleCauseSentence(cause.cause), cause.time, idle, idleCauseColour(cause.cause)));
    m_idleHead->setVisible(!rows.empty());
    m_idle->setVisible(!rows.empty());
    m_idle->setRows(std::move(rows));
}

void DeviceSummary::showKernels(const TableRows* kernels)
{
    m_kernelsHead->setVisible(kernels);
    m_kernels->setVisible(kernels);
    std::vector<EvidenceRow> rows;
    const std::size_t count = kernels ? std::min(kTopKernels, kernels->size()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        EvidenceRow row;
        for (std::size_t column = 0; column < kernels->columns().size(); ++column) {
            const int id = kernels->columns()[column].id;
            const TableValue value = kernels->value(i, column);
            if (id == static_cast<int>(Field::Name) || id == static_cast<int>(Field::Total) ||
                id == static_cast<int>(Field::Share))
                row.cells.push_back(
                    {shownText(value),
                     value.unit == TableValue::Unit::Share ? value.real : static_cast<double>(value.whole),
                     fullText(value)});
        }
        row.swatch = kernels->sliceClass(i);
        row.evidence.slice = kernels->slice(i);
        rows.push_back(std::move(row));
    }
    m_kernels->setRows(std::move(rows));
}

} // namespace app
