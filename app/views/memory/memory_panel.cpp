#include "app/views/memory/memory_panel.h"

#include "app/charts/counter_series.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/save_dialog.h"
#include "app/look/theme.h"
#include "app/services/program_process.h"
#include "app/tables/evidence_table.h"
#include "app/tables/slice_details.h"
#include "app/views/memory/memory_chart.h"
#include "app/views/memory/memory_maps.h"

#include <QAbstractProxyModel>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QSaveFile>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QSvgGenerator>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <initializer_list>

namespace app {

namespace analysis = profiler::analysis;
using analysis::DeviceMemory;
using analysis::LiveBlocks;
using analysis::MemorySource;
using analysis::MemoryState;

namespace {

constexpr int kShownAround = 40; ///< a chosen time is shown with 1/40 of the recorded time on both sides

QString csvField(const QString& text)
{
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n'))
        return text;
    QString quoted = text;
    return u'"' + quoted.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + u'"';
}

QToolButton* makeButton(const char* iconName, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(icon(iconName));
    button->setAutoRaise(true);
    button->setToolTip(text);
    button->setAccessibleName(text);
    return button;
}

QComboBox* makeChoice(const char* name, const QString& accessible, QWidget* parent)
{
    auto* choice = new QComboBox(parent);
    choice->setObjectName(name);
    choice->setAccessibleName(accessible);
    choice->setToolTip(accessible);
    choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    choice->setMinimumWidth(44); // in a narrow window, the text is cut rather than the row
    return choice;
}

EvidenceRow rowOf(const LiveBlocks& holder, std::int64_t all, std::size_t index)
{
    const QString none = QStringLiteral("–");
    const double share = all > 0 ? static_cast<double>(holder.bytes) / static_cast<double>(all) : 0;
    QString where = asQString(holder.place.function);
    if (!holder.phase.empty())
        where = holder.step ? MemoryPanel::tr("%1, step %2").arg(asQString(holder.phase)).arg(*holder.step)
                            : asQString(holder.phase);
    else if (holder.step)
        where += (where.isEmpty() ? QString() : QStringLiteral(", ")) + MemoryPanel::tr("step %1").arg(*holder.step);
    const bool isKnown = !holder.rest && !holder.unrecorded;
    EvidenceRow row;
    row.cells = {{holderLabel(holder), 0},
                 {formatBytes(static_cast<double>(holder.bytes)), static_cast<double>(holder.bytes)},
                 {formatShare(share), share},
                 {isKnown ? memoryCategoryTitle(holder.category) : none, 0},
                 {where.isEmpty() ? none : where, 0},
                 {holder.blocks > 0 ? formatCount(holder.blocks) : none, static_cast<double>(holder.blocks)}};
    if (isKnown)
        row.swatch = memoryClass(holder.category);
    row.evidence.slice = holder.allocation;
    row.key = QString::number(index);
    return row;
}

} // namespace

MemoryPanel::MemoryPanel(const TraceDocument* document, QWidget* parent)
    : QWidget(parent), m_document(document),
      m_work(this, QStringLiteral("memory"), tr("Cancelled. Open this view again to start over."), [this] { start(); })
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    m_work.setContent(makePage());
    layout->addWidget(m_work.pages(), 1);
    setMinimumSize(340, 100); // a window of 960 pixels leaves that much between the docks at its sides
    connectDocument();
    m_work.request();
}

QWidget* MemoryPanel::makeHeader()
{
    auto* header = new QWidget(this);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(8, 3, 6, 3);
    m_device = makeChoice("memoryDevice", tr("Device"), header);
    m_moment = makeChoice("memoryMoment", tr("Moment of the holders"), header);
    m_moment->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_moment->setMinimumContentsLength(26);
    m_tabs = new QTabBar(header); // not that of a tab widget: the view is often low
    m_tabs->setObjectName("memoryTabs");
    m_tabs->setAccessibleName(tr("Part of the view"));
    m_tabs->setDocumentMode(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->addTab(tr("Holders"));
    m_tabs->addTab(tr("Treemap"));
    m_tabs->addTab(tr("Segments"));
    m_tabs->addTab(tr("Categories"));
    m_tabs->setTabToolTip(Categories, tr("How the view knows what memory is used for"));
    m_save = makeButton("save", tr("Copy or save"), header);
    m_save->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_save);
    menu->addAction(icon("copy"), tr("Copy image"), this, &MemoryPanel::copyImage);
    menu->addAction(tr("Copy memory over time as CSV"), this,
                    [this] { QApplication::clipboard()->setText(m_chart->csv()); });
    menu->addAction(tr("Copy holders as CSV"), this, [this] { QApplication::clipboard()->setText(holdersCsv()); });
    menu->addAction(icon("save"), tr("Save as PNG, SVG or CSV…"), this, &MemoryPanel::save);
    m_save->setMenu(menu);
    row->addWidget(m_device);
    row->addWidget(m_moment);
    row->addStretch(1);
    row->addWidget(m_tabs);
    row->addWidget(m_work.progress());
    row->addWidget(m_work.cancelButton());
    row->addWidget(m_save);
    connect(m_device, &QComboBox::activated, this, &MemoryPanel::showDevice);
    connect(m_moment, &QComboBox::activated, this, &MemoryPanel::showMoment);
    connect(&m_work, &PanelWork::shown, this, [this](bool hasContent) {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_device, m_moment, m_tabs})
            widget->setVisible(hasContent);
        m_save->setEnabled(hasContent);
    });
    return header;
}

QWidget* MemoryPanel::makePage()
{
    auto* sides = new QSplitter(Qt::Horizontal, m_work.pages());
    sides->setChildrenCollapsible(false);
    m_chart = new MemoryChart(sides);
    m_chart->setObjectName("memoryChart");
    m_parts = new QStackedWidget(sides);

    m_table = new EvidenceTable({{tr("Allocated at"), false},
                                 {tr("Size"), true},
                                 {tr("Share"), true},
                                 {tr("Category"), false},
                                 {tr("Within"), false},
                                 {tr("Blocks"), true}},
                                tr("Holders of memory"));
    m_table->setObjectName("memoryHolderTable");
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(4, QHeaderView::Stretch);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_holderPages = new QStackedWidget(m_parts);
    m_noHolders = makeEmptyLabel("memoryNoHolders", m_holderPages);
    m_holderPages->addWidget(m_table);
    m_holderPages->addWidget(m_noHolders);
    m_parts->addWidget(m_holderPages);

    m_treemap = new MemoryTreemap(m_parts);
    m_treemap->setObjectName("memoryTreemap");
    m_parts->addWidget(m_treemap);

    auto* segments = new QWidget(m_parts);
    auto* column = new QVBoxLayout(segments);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(2);
    m_segmentsSummary = makeTextLabel("memorySegmentsSummary", segments);
    m_segmentsSummary->setContentsMargins(8, 0, 8, 0);
    m_segmentsSummary->setForegroundRole(QPalette::PlaceholderText);
    m_segments = new SegmentMap(segments);
    m_segments->setObjectName("memorySegments");
    column->addWidget(m_segmentsSummary);
    column->addWidget(m_segments, 1);
    m_parts->addWidget(segments);
    m_parts->addWidget(makeCategories());
    connect(m_tabs, &QTabBar::currentChanged, m_parts, &QStackedWidget::setCurrentIndex);

    sides->addWidget(m_chart);
    sides->addWidget(m_parts);
    sides->setStretchFactor(0, 1);
    sides->setStretchFactor(1, 1);
    sides->setSizes({560, 440});

    connect(m_chart, &MemoryChart::timeChosen, this, &MemoryPanel::showTime);
    connect(m_table, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) {
        const auto holder = static_cast<std::size_t>(row.key.toULongLong());
        m_treemap->setCurrent(holder);
        choose(holder);
    });
    const auto holderOf = [this](const QModelIndex& index) {
        const auto* sorted = qobject_cast<const QAbstractProxyModel*>(m_table->model());
        const QModelIndex source = sorted->mapToSource(index);
        return source.isValid()
                   ? std::optional(static_cast<std::size_t>(m_table->evidence()->row(source.row()).key.toULongLong()))
                   : std::nullopt;
    };
    connect(m_table, &QTableView::doubleClicked, this, [this, holderOf](const QModelIndex& index) {
        if (const auto holder = holderOf(index))
            open(*holder);
    });
    connect(m_table, &QTableView::customContextMenuRequested, this, [this, holderOf](QPoint at) {
        if (const auto holder = holderOf(m_table->indexAt(at)))
            showMenu(*holder, m_table->viewport()->mapToGlobal(at));
    });
    connect(m_treemap, &MemoryTreemap::chosen, this, &MemoryPanel::choose);
    connect(m_treemap, &MemoryTreemap::opened, this, &MemoryPanel::open);
    connect(m_treemap, &MemoryTreemap::menuWanted, this, &MemoryPanel::showMenu);
    connect(m_segments, &SegmentMap::chosen, this,
            [this](const analysis::SegmentBlock& block) { showAllocation(block.allocation); });
    connect(m_segments, &SegmentMap::opened, this,
            [this](const analysis::SegmentBlock& block) { openLine(block.place); });
    return sides;
}

QWidget* MemoryPanel::makeCategories()
{
    auto* scroll = new QScrollArea(m_parts);
    scroll->setObjectName("memoryCategories");
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setBackgroundRole(QPalette::Base);
    auto* page = new QWidget(scroll);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(8, 6, 8, 8);
    m_source = makeTextLabel("memorySource", page);
    column->addWidget(m_source);
    m_categories = new QWidget(page);
    column->addWidget(m_categories);
    column->addStretch(1);
    scroll->setWidget(page);
    return scroll;
}

void MemoryPanel::connectDocument()
{
    connect(m_document, &TraceDocument::traceReplaced, this, [this] {
        m_work.abandon();
        m_devices.reset();
        m_work.request();
    });
    connect(m_document, &TraceDocument::traceChanged, this, [this] {
        if (m_document->trace() != m_trace)
            m_work.request();
    });
    connect(m_document, &TraceDocument::loading, this, [this](const QString&, double share) {
        if (share >= 1)
            m_work.request();
    });
}

void MemoryPanel::start()
{
    const auto trace = m_document->trace();
    if (m_devices && m_trace == trace)
        return;
    QString whyNot;
    if (!holdsAnything(*trace))
        whyNot = tr("Open a trace to see its memory.");
    else if (trace->captureStats().live)
        whyNot = tr("The training is still running. Its memory is shown when the trace is complete.");
    else if (m_document->isLoading() && m_document->isPartial())
        whyNot = tr("The trace is still loading.");
    m_devices.reset();
    m_trace = trace;
    if (!whyNot.isEmpty()) {
        m_work.abandon();
        m_trace.reset();
        m_work.show(whyNot);
        return;
    }
    m_work.show(tr("Reading the memory events…"));
    m_work.run(
        [this, trace](const std::stop_token& stop, const Background::Post& post) {
            auto devices = std::make_shared<const Devices>(analysis::memoryOverTime(*trace, stop));
            if (!stop.stop_requested())
                post([this, devices] { take(devices); });
        },
        [this](const profiler::Error& error) { fail(error); });
}

void MemoryPanel::fail(const profiler::Error& error)
{
    m_devices.reset();
    m_work.show(tr("The memory events could not be read: %1").arg(asQString(error.message())));
}

void MemoryPanel::take(const std::shared_ptr<const Devices>& devices)
{
    m_work.end();
    m_devices = devices;
    if (devices->empty()) {
        m_work.show(
            tr("The trace does not record memory.\n\n"
               "To see what uses it, record a memory snapshot: call torch.cuda.memory._record_memory_history() "
               "before the training, torch.cuda.memory._dump_snapshot(\"memory.pickle\") after a few steps, and "
               "open that file here.\n"
               "For the totals alone, use torch.profiler.profile(profile_memory=True), or record with the detail "
               "level Full."));
        return;
    }
    m_device->clear();
    for (const DeviceMemory& one : *devices)
        m_device->addItem(asQString(one.place));
    // The device with the highest peak is the one that runs out first; the host rarely matters if there is a GPU.
    std::size_t chosen = devices->size() - 1;
    for (std::size_t i = devices->size(); i-- > 0;)
        if ((*devices)[i].place != "CPU" && (*devices)[i].peak() &&
            (!(*devices)[chosen].peak() || (*devices)[i].peak()->bytes >= (*devices)[chosen].peak()->bytes))
            chosen = i;
    m_device->setCurrentIndex(static_cast<int>(chosen));
    m_device->setEnabled(devices->size() > 1);
    m_work.show({});
    showDevice();
}

void MemoryPanel::setPage(Page page)
{
    m_tabs->setCurrentIndex(page);
}

bool MemoryPanel::hasPage(Page page) const
{
    return m_tabs->isTabEnabled(page);
}

const DeviceMemory* MemoryPanel::device() const
{
    const int index = m_device->currentIndex();
    return m_devices && index >= 0 && index < static_cast<int>(m_devices->size())
               ? &(*m_devices)[static_cast<std::size_t>(index)]
               : nullptr;
}

const MemoryState* MemoryPanel::moment() const
{
    const DeviceMemory* memory = device();
    const int index = m_moment->currentIndex();
    return memory && index >= 0 && index < static_cast<int>(memory->moments.size())
               ? &memory->moments[static_cast<std::size_t>(index)]
               : nullptr;
}

QString MemoryPanel::momentText(const MemoryState& state) const
{
    const QString bytes = formatBytes(static_cast<double>(state.bytes));
    QString text = state.ranOut ? tr("Out of memory: %1 allocated").arg(bytes) : tr("Peak: %1").arg(bytes);
    if (state.asked)
        text += tr(", %1 more requested").arg(formatBytes(static_cast<double>(*state.asked)));
    if (state.time)
        text += tr(" at %1").arg(formatPosition(*state.time - shownRange(*m_trace).begin, 6));
    return text;
}

void MemoryPanel::showDevice()
{
    const DeviceMemory* memory = device();
    if (!memory)
        return;
    const std::shared_ptr<const DeviceMemory> shared(m_devices, memory);
    m_chart->setMemory(shared, shownRange(*m_trace));
    m_chart->setVisible(!memory->samples.empty());
    m_segments->setMemory(shared);
    m_segmentsSummary->setText(memory->segments.empty()
                                   ? tr("The trace does not record the allocator's segments. A memory snapshot does: "
                                        "torch.cuda.memory._dump_snapshot(\"memory.pickle\").")
                                   : m_segments->summary());
    m_moment->clear();
    for (const MemoryState& state : memory->moments)
        m_moment->addItem(momentText(state));
    m_moment->setVisible(!memory->moments.empty());
    m_moment->setEnabled(memory->moments.size() > 1);
    m_moment->setCurrentIndex(static_cast<int>(memory->moments.size()) - 1);
    if (memory->moments.empty() && !memory->segments.empty())
        setPage(Segments);
    showMoment();
}

void MemoryPanel::showMoment()
{
    const MemoryState* state = moment();
    m_chart->setMark(state ? state->time : std::nullopt,
                     !state          ? QString()
                     : state->ranOut ? tr("out of memory")
                                     : tr("peak %1").arg(formatBytes(static_cast<double>(state->bytes))));
    showHolders();
    showCategories();
}

void MemoryPanel::showHolders()
{
    const MemoryState* state = moment();
    std::vector<EvidenceRow> rows;
    if (state)
        for (std::size_t i = 0; i < state->holders.size(); ++i)
            rows.push_back(rowOf(state->holders[i], state->bytes, i));
    const bool isEmpty = rows.empty();
    m_table->setRows(std::move(rows));
    m_treemap->setHolders(state ? state->holders : std::vector<LiveBlocks>());
    m_noHolders->setText(
        tr("The trace records how much memory was allocated, but not which blocks, or nothing was allocated during "
           "the recording.\n\nA memory snapshot does: call torch.cuda.memory._record_memory_history() before the "
           "training, "
           "torch.cuda.memory._dump_snapshot(\"memory.pickle\") after a few steps, and open that file here."));
    m_holderPages->setCurrentIndex(isEmpty ? 1 : 0);
    m_tabs->setTabEnabled(Treemap, !isEmpty);
    m_tabs->setTabEnabled(Segments, device() && !device()->segments.empty());
}

void MemoryPanel::showCategories()
{
    const DeviceMemory* memory = device();
    const MemoryState* state = moment();
    delete m_grid;
    qDeleteAll(m_categories->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
    m_grid = new QGridLayout(m_categories);
    m_grid->setContentsMargins(0, 4, 0, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(6);
    m_grid->setColumnStretch(3, 1);
    if (!memory)
        return;
    m_source->setText(memorySourceText(*memory));
    const bool dark = TimelineTheme::from(palette()).dark;
    int row = 0;
    for (const MemoryCategory category : kMemoryOrder) {
        const QString rule = memoryCategoryRule(category, memory->source);
        if (rule.isEmpty())
            continue;
        auto* color = new QLabel(m_categories);
        color->setPixmap(memorySwatch(category, dark));
        auto* name = new QLabel(memoryCategoryTitle(category), m_categories);
        auto* bytes =
            new QLabel(state ? formatBytes(static_cast<double>(state->sample.of(category))) : QString(), m_categories);
        auto* why = makeTextLabel(QStringLiteral("memoryRule"), m_categories);
        why->setText(rule);
        why->setForegroundRole(QPalette::PlaceholderText);
        m_grid->addWidget(color, row, 0, Qt::AlignTop);
        m_grid->addWidget(name, row, 1, Qt::AlignTop);
        m_grid->addWidget(bytes, row, 2, Qt::AlignTop | Qt::AlignRight);
        m_grid->addWidget(why, row++, 3);
    }
}

void MemoryPanel::choose(std::size_t index)
{
    const MemoryState* state = moment();
    if (!state || index >= state->holders.size())
        return;
    const LiveBlocks& holder = state->holders[index];
    if (holder.allocation) {
        showAllocation(holder.allocation);
        return;
    }
    const auto analysed = m_document->analysed();
    if (!holder.step || !analysed)
        return;
    for (const analysis::Step& step : analysed->facts.steps)
        if (step.index == *holder.step) {
            m_document->selection()->selectSlice(step.slice);
            m_document->selection()->show(step.range, step.slice.track);
            return;
        }
}

void MemoryPanel::showAllocation(std::optional<profiler::SliceId> slice)
{
    if (!slice || !holds(*m_document->trace(), *slice))
        return;
    m_document->selection()->selectSlice(*slice);
    showTime(m_document->trace()->slice(*slice).begin);
}

void MemoryPanel::showTime(profiler::TraceTime time)
{
    const auto around =
        std::max(shownRange(*m_document->trace()).duration() / kShownAround, profiler::Nanoseconds{500});
    m_document->selection()->show({time - around, time + around});
}

void MemoryPanel::open(std::size_t index)
{
    if (const MemoryState* state = moment(); state && index < state->holders.size())
        openLine(state->holders[index].place);
}

void MemoryPanel::openLine(const analysis::SourceLine& place)
{
    if (place.empty())
        return;
    const QString problem = openSourceInEditor(
        asQString(place.file), static_cast<int>(std::max<std::int64_t>(place.line, 1)), m_document->path());
    if (!problem.isEmpty())
        emit noticed(problem, {}, true);
}

void MemoryPanel::showMenu(std::size_t index, QPoint global)
{
    const MemoryState* state = moment();
    if (!state || index >= state->holders.size())
        return;
    const LiveBlocks& holder = state->holders[index];
    QMenu menu(this);
    QAction* edit = menu.addAction(icon("open"), tr("Open %1 in the editor").arg(holderTitle(holder)), this,
                                   [&] { openLine(holder.place); });
    edit->setEnabled(!holder.place.empty());
    QAction* show = menu.addAction(holder.allocation || !holder.step ? tr("Show the largest allocation in the timeline")
                                                                     : tr("Show the step in the timeline"),
                                   this, [&] { choose(index); });
    show->setEnabled(holder.allocation || holder.step);
    menu.addSeparator();
    menu.addAction(icon("copy"), tr("Copy"), this,
                   [&] { QApplication::clipboard()->setText(holderDescription(holder, state->bytes)); });
    menu.exec(global);
}

QString MemoryPanel::holdersCsv() const
{
    QString text = QStringLiteral("bytes,blocks,category,file,line,function,operator,phase,step\n");
    const MemoryState* state = moment();
    if (!state)
        return text;
    for (const LiveBlocks& holder : state->holders) {
        const QStringList fields{QString::number(holder.bytes),
                                 QString::number(holder.blocks),
                                 holder.rest         ? QStringLiteral("rest")
                                 : holder.unrecorded ? QStringLiteral("unrecorded")
                                                     : asQString(memoryCategoryName(holder.category)),
                                 csvField(asQString(holder.place.file)),
                                 holder.place.empty() ? QString() : QString::number(holder.place.line),
                                 csvField(asQString(holder.place.function)),
                                 csvField(asQString(holder.op)),
                                 csvField(asQString(holder.phase)),
                                 holder.step ? QString::number(*holder.step) : QString()};
        text += fields.join(u',') + u'\n';
    }
    return text;
}

void MemoryPanel::copyImage()
{
    QImage image(m_chart->size() * devicePixelRatioF(), QImage::Format_RGB32);
    image.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&image);
    m_chart->render(painter, m_chart->size());
    painter.end();
    QApplication::clipboard()->setImage(image);
}

void MemoryPanel::save()
{
    const QString file =
        askWhereToSave(this, tr("Save memory over time"), QStringLiteral("memory.png"),
                       {{tr("PNG (*.png)"), ".png"}, {tr("SVG (*.svg)"), ".svg"}, {tr("CSV (*.csv)"), ".csv"}});
    if (file.isEmpty())
        return;
    const QSize size = m_chart->size();
    bool saved = true;
    if (file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) {
        QSaveFile out(file);
        const QByteArray text = m_chart->csv().toUtf8();
        saved = out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit();
    } else if (file.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setFileName(file);
        svg.setSize(size);
        svg.setViewBox(QRect(QPoint(0, 0), size));
        svg.setTitle(m_document->title());
        QPainter painter;
        saved = painter.begin(&svg);
        if (saved)
            m_chart->render(painter, size);
    } else {
        constexpr int kScale = 2;
        QImage image(size * kScale, QImage::Format_RGB32);
        image.setDevicePixelRatio(kScale);
        QPainter painter(&image);
        m_chart->render(painter, size);
        painter.end();
        saved = image.save(file);
    }
    if (!saved)
        emit noticed(tr("Could not save the chart."), tr("%1 cannot be written.").arg(file), true);
}

} // namespace app
