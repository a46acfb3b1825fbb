#include "app/views/query/query.h"

#include "app/document/analyser.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "app/services/notices.h"
#include "app/views/query/sql_editor.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/analysis/steps/step_repetition.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTextCursor>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

namespace app {

using profiler::query::ResultTable;
using profiler::query::Unit;
using profiler::query::Value;

namespace {

QString exactText(const Value& value)
{
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return QString::number(*number);
    if (const auto* real = std::get_if<double>(&value))
        return QString::number(*real, 'g', 17);
    const auto* text = std::get_if<std::string>(&value);
    return text ? QString::fromStdString(*text) : QString();
}

/// RFC 4180 for a comma; for a tab, separators and line ends within a cell become spaces.
QString cell(QString text, QChar separator)
{
    if (separator == '\t')
        return text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    if (!text.contains(separator) && !text.contains('"') && !text.contains('\n') && !text.contains('\r'))
        return text;
    return '"' + text.replace("\"", "\"\"") + '"';
}

constexpr int kMostHistory = 50;
constexpr int kMostMarked = 20'000;  ///< more marks than the timeline has pixels
constexpr int kMostCopied = 100'000; ///< rows of text that other programs still accept
constexpr int kWidestColumn = 420;
constexpr double kSurroundings = 3; ///< multiple of the slice's duration shown on each side
const QString kHistoryKey = QStringLiteral("query/history"), kTextKey = QStringLiteral("query/text");

QToolButton* textButton(const QString& text, const QString& iconStem, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setAutoRaise(true);
    if (iconStem.isEmpty()) {
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    } else {
        button->setIcon(icon(iconStem));
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    }
    return button;
}

} // namespace

void ResultModel::show(std::shared_ptr<const ResultTable> table, profiler::TraceTime begin)
{
    beginResetModel();
    m_table = std::move(table);
    m_begin = begin;
    m_isNumeric.assign(m_table ? m_table->columns.size() : 0, true);
    constexpr std::size_t kLooked = 1000; // rows; a column with numbers in all of these is one of numbers
    for (std::size_t row = 0; m_table && row < std::min(m_table->rows, kLooked); ++row)
        for (std::size_t column = 0; column < m_isNumeric.size(); ++column)
            if (std::holds_alternative<std::string>(m_table->at(row, column)))
                m_isNumeric[column] = false;
    endResetModel();
}

const Value& ResultModel::value(int row, int column) const
{
    return m_table->at(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
}

std::optional<std::int64_t> ResultModel::integer(int row, int column) const
{
    const auto* number = std::get_if<std::int64_t>(&value(row, column));
    return number ? std::optional{*number} : std::nullopt;
}

std::optional<std::int64_t> ResultModel::sliceKey(int row) const
{
    for (int column = 0; column < columnCount(); ++column)
        if (m_table->columns[static_cast<std::size_t>(column)].unit == Unit::SliceId)
            if (const auto key = integer(row, column))
                return key;
    return std::nullopt;
}

std::optional<profiler::TimeRange> ResultModel::range(int row) const
{
    std::optional<std::int64_t> begin, end, duration;
    for (int column = 0; column < columnCount(); ++column) {
        const auto number = integer(row, column);
        if (!number)
            continue;
        switch (m_table->columns[static_cast<std::size_t>(column)].unit) {
        case Unit::Time:
            (begin ? end : begin) = number;
            break;
        case Unit::Duration:
            duration = duration ? duration : number;
            break;
        default:
            break;
        }
    }
    if (!begin)
        return std::nullopt;
    const std::int64_t last = duration ? *begin + *duration : end.value_or(*begin);
    return profiler::TimeRange{profiler::traceTime(*begin), profiler::traceTime(std::max(last, *begin + 1))};
}

QString ResultModel::csv(const std::vector<int>& rows, QChar separator) const
{
    QString text;
    const QString end = separator == '\t' ? "\n" : "\r\n";
    for (int column = 0; column < columnCount(); ++column)
        text += (column == 0 ? QString() : QString(separator)) +
                cell(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), separator);
    text += end;
    for (const int row : rows) {
        for (int column = 0; column < columnCount(); ++column)
            text += (column == 0 ? QString() : QString(separator)) + cell(exactText(value(row, column)), separator);
        text += end;
    }
    return text;
}

int ResultModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->rows);
}

int ResultModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_table ? 0 : static_cast<int>(m_table->columns.size());
}

QString ResultModel::cellText(int row, int column) const
{
    const Value& shown = value(row, column);
    if (std::holds_alternative<std::monostate>(shown))
        return QStringLiteral("–");
    if (const auto* text = std::get_if<std::string>(&shown))
        return QString::fromStdString(*text).simplified();
    const auto* whole = std::get_if<std::int64_t>(&shown);
    const double number = whole ? static_cast<double>(*whole) : std::get<double>(shown);
    switch (m_table->columns[static_cast<std::size_t>(column)].unit) {
    case Unit::Duration:
        return formatUs(number / 1e3);
    case Unit::Time:
        return whole ? formatPosition(profiler::traceTime(*whole) - m_begin) : formatSignificant(number);
    case Unit::Bytes:
        return formatBytes(number);
    case Unit::Share:
        return formatShare(number);
    case Unit::SliceId:
        return exactText(shown);
    default:
        return whole ? formatCount(*whole) : formatSignificant(number);
    }
}

QVariant ResultModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_table)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return cellText(index.row(), index.column());
    case Qt::ToolTipRole:
        return exactText(value(index.row(), index.column()));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::AlignVCenter |
            (m_isNumeric[static_cast<std::size_t>(index.column())] ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || !m_table || section < 0 || section >= columnCount())
        return {};
    const auto column = static_cast<std::size_t>(section);
    switch (role) {
    case Qt::DisplayRole:
        return QString::fromStdString(m_table->columns[column].name);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::AlignVCenter | (m_isNumeric[column] ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

QueryPanel::QueryPanel(TraceDocument* document, Notices* notices, QWidget* parent)
    : QWidget(parent), m_document(document), m_notices(notices), m_editor(new SqlEditor(this)),
      m_model(new ResultModel(this))
{
    setAccessibleName(tr("Query"));
    m_editor->setObjectName("queryEditor");
    m_editor->setAccessibleName(tr("SQL statement"));
    m_editor->setPlaceholderText(tr("SELECT … FROM slice   (Ctrl+Space lists tables and columns)"));
    m_history = QSettings().value(kHistoryKey).toStringList();
    m_editor->setPlainText(QSettings().value(kTextKey).toString());
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setChildrenCollapsible(false);
    split->addWidget(m_editor);
    split->addWidget(makeResult());
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeBar());
    column->addWidget(split, 1);
    setFocusProxy(m_editor);
    connect(m_editor, &SqlEditor::runWanted, this, &QueryPanel::run);
    connect(document, &TraceDocument::traceReplaced, this, &QueryPanel::replaceTrace);
    setRunning(false);
    showEmpty();
}

QueryPanel::~QueryPanel()
{
    QSettings().setValue(kTextKey, m_editor->toPlainText());
}

QWidget* QueryPanel::makeBar()
{
    auto* bar = new QWidget(this);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 2, 6, 2);
    row->setSpacing(4);
    m_run = textButton(tr("Run"), "start", bar);
    m_run->setObjectName("queryRun");
    m_run->setToolTip(tr("Run the query (Ctrl+Return)"));
    connect(m_run, &QToolButton::clicked, this, &QueryPanel::run);
    m_cancel = textButton(tr("Cancel"), "stop", bar);
    m_cancel->setObjectName("queryCancel");
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        m_query.cancel();
        setRunning(false);
        m_status->setText(tr("cancelled"));
    });
    auto* examples = textButton(tr("Examples"), {}, bar);
    examples->setObjectName("queryExamples");
    examples->setPopupMode(QToolButton::InstantPopup);
    examples->setMenu(makeExamples());
    auto* history = textButton(tr("History"), {}, bar);
    history->setObjectName("queryHistory");
    history->setPopupMode(QToolButton::InstantPopup);
    m_historyMenu = new QMenu(history);
    connect(m_historyMenu, &QMenu::aboutToShow, this, &QueryPanel::listHistory);
    history->setMenu(m_historyMenu);
    m_status = new QLabel(bar);
    m_status->setObjectName("queryStatus");
    m_mark = textButton(tr("Mark on timeline"), {}, bar);
    m_mark->setObjectName("queryMark");
    m_mark->setCheckable(true);
    m_mark->setToolTip(tr("Highlight the slices and times of all rows on the timeline"));
    connect(m_mark, &QToolButton::toggled, this, &QueryPanel::markRows);
    auto* more = textButton(tr("Copy or save"), "copy", bar);
    more->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(more);
    menu->addActions({m_copy, m_copyAll, m_save});
    more->setMenu(menu);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_run, m_cancel, examples, history})
        row->addWidget(widget);
    row->addStretch(1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_status, m_mark, more})
        row->addWidget(widget);
    return bar;
}

QMenu* QueryPanel::makeExamples()
{
    auto* menu = new QMenu(this);
    for (const profiler::query::Example& example : profiler::query::examples()) {
        const QString sql = QString::fromStdString(example.sql);
        connect(menu->addAction(QString::fromStdString(example.title)), &QAction::triggered, this, [this, sql] {
            load(sql);
            run();
        });
    }
    return menu;
}

QWidget* QueryPanel::makeResult()
{
    m_message = new QLabel(this);
    m_message->setObjectName("queryMessage");
    m_message->setWordWrap(true);
    m_message->setTextFormat(Qt::RichText);
    m_message->setMargin(12);
    m_message->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_message->setTextInteractionFlags(Qt::TextBrowserInteraction);
    connect(m_message, &QLabel::linkActivated, this, [this](const QString& link) {
        load(QString::fromStdString(profiler::query::examples()[static_cast<std::size_t>(link.toInt())].sql));
        run();
    });
    m_table = new QTableView(this);
    m_table->setObjectName("queryResult");
    m_table->setAccessibleName(tr("Result of the query"));
    m_table->setModel(m_model);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->horizontalHeader()->setResizeContentsPrecision(0); // visible rows only, because there may be a million
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setMinimumSectionSize(4);
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid())
                    chooseRow(current.row());
            });
    makeResultActions();
    m_pages = new QStackedWidget(this);
    m_pages->addWidget(m_message);
    m_pages->addWidget(m_table);
    return m_pages;
}

void QueryPanel::makeResultActions()
{
    m_copy = new QAction(icon("copy"), tr("&Copy rows"), m_table);
    m_copy->setShortcut(QKeySequence::Copy);
    m_copy->setShortcutContext(Qt::WidgetShortcut);
    connect(m_copy, &QAction::triggered, this, [this] { copy(false); });
    m_copyAll = new QAction(tr("Copy &everything as CSV"), m_table);
    connect(m_copyAll, &QAction::triggered, this, [this] { copy(true); });
    m_save = new QAction(icon("save"), tr("&Save as CSV…"), m_table);
    connect(m_save, &QAction::triggered, this, &QueryPanel::save);
    m_table->addActions({m_copy, m_copyAll, m_save});
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void QueryPanel::listHistory()
{
    m_historyMenu->clear();
    for (const QString& sql : m_history) {
        QString title = sql.simplified();
        constexpr int kLongestTitle = 90;
        if (title.size() > kLongestTitle)
            title = title.left(kLongestTitle) + QStringLiteral("…");
        connect(m_historyMenu->addAction(title.replace('&', "&&")), &QAction::triggered, this,
                [this, sql] { load(sql); });
    }
    if (m_history.isEmpty())
        m_historyMenu->addAction(tr("No query has been run yet"))->setEnabled(false);
}

/// Replaces the text in the editor; undo brings the previous text back.
void QueryPanel::load(const QString& sql)
{
    QTextCursor cursor(m_editor->document());
    cursor.select(QTextCursor::Document);
    cursor.insertText(sql);
    m_editor->setFocus();
}

void QueryPanel::remember(const QString& sql)
{
    m_history.removeAll(sql);
    m_history.prepend(sql);
    m_history = m_history.mid(0, kMostHistory);
    QSettings settings;
    settings.setValue(kHistoryKey, m_history);
    settings.setValue(kTextKey, sql);
}

void QueryPanel::replaceTrace()
{
    m_query.cancel();
    m_resultTrace.reset();
    m_model->show(nullptr, {});
    m_mark->setChecked(false);
    m_status->clear();
    setRunning(false);
    showEmpty();
}

void QueryPanel::run()
{
    const QString sql = m_editor->toPlainText();
    m_editor->markError(0, 0);
    profiler::query::Source source{m_document->trace()};
    const auto analysed = m_document->analysed();
    const bool hasSteps = analysed && analysed->trace == source.trace;
    if (hasSteps)
        source.steps = analysed->facts.steps;
    setRunning(true);
    m_query.start(
        [this, source = std::move(source), sql, hasSteps](const std::stop_token& stop, const Background::Post& post) {
            profiler::query::Source complete = source;
            if (!hasSteps)
                complete.steps = profiler::analysis::detectSteps(*source.trace).steps;
            auto result = profiler::query::runQuery(complete, sql.toStdString(), {}, stop);
            if (result)
                post(
                    [this, sql, trace = source.trace, table = std::make_shared<const ResultTable>(std::move(*result))] {
                        remember(sql);
                        take(table, trace);
                    });
            else
                post([this, sql, error = result.error()] { fail(error, sql); });
        },
        [this, sql](const profiler::Error& error) { fail(error, sql); });
}

void QueryPanel::take(const std::shared_ptr<const ResultTable>& table, std::shared_ptr<const profiler::Trace> trace)
{
    setRunning(false);
    m_resultTrace = std::move(trace);
    m_model->show(table, m_resultTrace->range().begin);
    const QString rows = formatCounted(static_cast<std::int64_t>(table->rows), tr("row"), tr("rows"));
    m_status->setText(table->isCut ? tr("first %1 · %2").arg(rows, formatDuration(table->elapsed))
                                   : tr("%1 · %2").arg(rows, formatDuration(table->elapsed)));
    if (table->rows == 0) {
        showMessage(tr("No rows match the query.").toHtmlEscaped());
    } else {
        m_pages->setCurrentWidget(m_table);
        m_table->resizeColumnsToContents();
        for (int column = 0; column < m_model->columnCount(); ++column)
            m_table->setColumnWidth(column, std::min(m_table->columnWidth(column) + 10, kWidestColumn));
        m_table->scrollToTop();
    }
    for (QAction* action : {m_copy, m_copyAll, m_save})
        action->setEnabled(table->rows > 0);
    markRows();
}

void QueryPanel::fail(const profiler::Error& error, const QString& sql)
{
    setRunning(false);
    m_status->clear();
    m_model->show(nullptr, {});
    markRows();
    const QString marked = QString::fromStdString(profiler::query::markedLine(sql.toStdString(), error));
    QString html = "<p><b>" + QString::fromStdString(error.what.text).toHtmlEscaped() + "</b></p>";
    if (!marked.isEmpty())
        html += "<pre>" + marked.toHtmlEscaped() + "</pre>";
    html += "<p>" + detailOf(error).toHtmlEscaped().replace('\n', "<br>") + "</p>";
    showMessage(html);
    const auto* line = error.what.find("line");
    const auto* column = error.what.find("column");
    if (line && column)
        m_editor->markError(static_cast<int>(std::get<std::int64_t>(line->value)),
                            static_cast<int>(std::get<std::int64_t>(column->value)));
}

void QueryPanel::setRunning(bool on)
{
    m_isRunning = on;
    m_cancel->setEnabled(on);
    if (on)
        m_status->setText(tr("running…"));
}

void QueryPanel::showEmpty()
{
    QString html = "<p>" +
                   tr("Ask the trace in SQL. Type a statement and press Ctrl+Return, or start with an example:") +
                   "</p><p>";
    for (std::size_t i = 0; i < profiler::query::examples().size(); ++i)
        html += QString("%1<a href=\"%2\">%3</a>")
                    .arg(i == 0 ? QString() : QStringLiteral(" &nbsp;·&nbsp; "))
                    .arg(i)
                    .arg(QString::fromStdString(profiler::query::examples()[i].title).toHtmlEscaped());
    html += "</p><p>" + tr("Tables:");
    for (const profiler::query::TableInfo& table : profiler::query::tables())
        html += " <code>" + QString::fromStdString(table.name) + "</code>";
    showMessage(html + ". " + tr("Times are in nanoseconds, sizes in bytes.") + "</p>");
    for (QAction* action : {m_copy, m_copyAll, m_save})
        action->setEnabled(false);
}

void QueryPanel::showMessage(const QString& html)
{
    m_message->setText(html);
    m_pages->setCurrentWidget(m_message);
}

/// Ids of slices stay valid while a trace grows, but change when a complete trace replaces its preview.
bool QueryPanel::hasCurrentIds() const
{
    const auto trace = m_document->trace();
    return m_resultTrace == trace || trace->captureStats().live;
}

void QueryPanel::chooseRow(int row)
{
    Selection* selection = m_document->selection();
    const auto trace = m_document->trace();
    const auto key = hasCurrentIds() ? m_model->sliceKey(row) : std::nullopt;
    if (const auto id = key ? profiler::query::sliceOfKey(*trace, *key) : std::nullopt) {
        const profiler::Slice slice = trace->slice(*id);
        const auto around = profiler::Nanoseconds{
            static_cast<std::int64_t>(static_cast<double>(slice.duration.count()) * kSurroundings)};
        selection->selectSlice(*id);
        selection->show({slice.begin - around, slice.end() + around}, id->track);
    } else if (const auto range = m_model->range(row)) {
        selection->selectRange(*range);
        const auto around = range->duration();
        selection->show({range->begin - around, range->end + around});
    }
}

void QueryPanel::markRows()
{
    const auto trace = m_document->trace();
    const auto table = m_model->table();
    if (!m_mark->isChecked() || !table || !hasCurrentIds()) {
        m_document->selection()->mark(nullptr);
        return;
    }
    auto items = std::make_shared<MarkedItems>();
    const int rows = std::min(m_model->rowCount(), kMostMarked);
    for (int row = 0; row < rows; ++row) {
        const auto key = m_model->sliceKey(row);
        if (const auto id = key ? profiler::query::sliceOfKey(*trace, *key) : std::nullopt)
            items->slices.push_back(trace->slice(*id));
        else if (const auto range = m_model->range(row))
            items->ranges.push_back(*range);
    }
    m_document->selection()->mark(items);
}

void QueryPanel::copy(bool all)
{
    std::vector<int> rows;
    if (all) {
        rows.resize(static_cast<std::size_t>(m_model->rowCount()));
        std::iota(rows.begin(), rows.end(), 0);
    } else {
        for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
            rows.push_back(index.row());
        std::sort(rows.begin(), rows.end());
    }
    if (rows.empty())
        return;
    if (rows.size() > kMostCopied) {
        emit m_notices->noticed(tr("Too many rows for the clipboard. Save the result as CSV instead."), {}, false);
        return;
    }
    QApplication::clipboard()->setText(m_model->csv(rows, all ? ',' : '\t'));
}

void QueryPanel::save()
{
    const QString path = askWhereToSave(this, tr("Save the result as CSV"), "query.csv", {{tr("CSV (*.csv)"), ".csv"}});
    if (path.isEmpty())
        return;
    std::vector<int> rows(static_cast<std::size_t>(m_model->rowCount()));
    std::iota(rows.begin(), rows.end(), 0);
    QSaveFile file(path);
    const bool saved =
        file.open(QIODevice::WriteOnly) && file.write(m_model->csv(rows, ',').toUtf8()) >= 0 && file.commit();
    if (!saved)
        emit m_notices->noticed(tr("Could not save the result."), file.errorString(), true);
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new QueryPanel(&bench.document, &bench.notices, parent);
}

} // namespace

View query()
{
    return {QCoreApplication::translate("views", "Query"), ViewArea::Bottom, 80, create};
}

} // namespace app::views
