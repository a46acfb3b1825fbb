#include "app/configuration/configuration_model.h"
#include "app/configuration/presets.h"
#include "app/document/job_document.h"
#include "app/document/trace_document.h"
#include "app/document/trace_files.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/services/job_guard.h"
#include "app/services/machine_state.h"
#include "app/services/notices.h"
#include "app/services/run_store.h"
#include "app/services/training_service.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QAction>
#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QFrame>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QString>
#include <QStyleOptionToolButton>
#include <QStylePainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <vector>

namespace app {

namespace {

/// An item that can be opened from the start page.
struct Place {
    QString name;               ///< elided in the middle if too long
    QString facts;              ///< after the name, never elided
    QString tip;                ///< tooltip, for example the path
    std::function<void()> open; ///< none: the item no longer exists
};

/// A heading and a short list of items, one button per line; hidden while empty.
class PlaceList : public QWidget {
public:
    PlaceList(const QString& objectName, const QString& title, QWidget* parent);

    void setPlaces(const std::vector<Place>& places);

private:
    QVBoxLayout* m_rows;
};

/// A card of the start page: an icon, a description, and a button.
class StartCard : public QFrame {
public:
    StartCard(const QString& iconStem, const QString& title, const QString& text, const QString& action,
              QWidget* parent);

    [[nodiscard]] QPushButton* button() const { return m_button; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPushButton* m_button;
};

/// The page without a trace: try an example, open a trace, record a program; recent runs, recent traces, and samples;
/// what this machine lacks.
/// Esc returns to the trace on screen.
class StartPage : public QWidget {
public:
    StartPage(Notices* notices, ConfigurationModel* configuration, TrainingService* training, const JobGuard* jobs,
              const RunStore* runs, TraceDocument* document, JobDocument* job, const MachineState* machine,
              QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void tryIt();
    void chooseTrace();
    void recordProgram();
    void open(const std::filesystem::path& trace);
    void leave();
    void showRuns();
    void showTraces();
    void showSamples();
    void showBusy();
    void showMachine();

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrainingService* m_training;
    const JobGuard* m_jobs;
    const RunStore* m_runs;
    TraceDocument* m_document;
    JobDocument* m_job;
    const MachineState* m_machine;
    QLabel* m_missing = nullptr; ///< what the machine lacks, with commands; hidden if nothing
    QPushButton* m_tryIt = nullptr;
    PlaceList *m_recentRuns = nullptr, *m_traces = nullptr, *m_samples = nullptr;
};

constexpr auto kBetween = "  ·  ";

/// A button that elides its name in favour of its details.
class PlaceButton : public QToolButton {
public:
    PlaceButton(const Place& place, QWidget* parent) : QToolButton(parent), m_place(place)
    {
        setText(place.facts.isEmpty() ? place.name : place.name + kBetween + place.facts);
        setAccessibleName(text());
        setToolTip(place.tip);
        setAutoRaise(true);
        setFocusPolicy(Qt::StrongFocus);
        setEnabled(place.open != nullptr);
        setIcon(app::icon(place.open ? "trace" : "unknown", QPalette::PlaceholderText));
        setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        if (place.open)
            connect(this, &QToolButton::clicked, this, place.open);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QStyleOptionToolButton option;
        initStyleOption(&option);
        const QString facts = m_place.facts.isEmpty() ? QString() : kBetween + m_place.facts;
        const int room = width() - iconSize().width() - fontMetrics().horizontalAdvance(facts) - 16;
        option.text = fontMetrics().elidedText(m_place.name, Qt::ElideMiddle, room) + facts;
        QStylePainter(this).drawComplexControl(QStyle::CC_ToolButton, option);
    }

private:
    Place m_place;
};

class Picture : public QWidget {
public:
    Picture(QString stem, QWidget* parent) : QWidget(parent), m_stem(std::move(stem)) { setFixedSize(32, 32); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.drawPixmap(0, 0, iconPixmap(m_stem, palette().color(QPalette::Highlight), 32, devicePixelRatioF()));
    }

private:
    QString m_stem;
};

constexpr qsizetype kMostRecent = 5;

QLabel* makeHeading(const QString& text, double scale, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * scale);
    font.setWeight(QFont::DemiBold);
    label->setFont(font);
    return label;
}

QString when(const QDateTime& time)
{
    return QLocale().toString(time, "d MMM, HH:mm");
}

/// The state of a run, or its rate.
QString outcomeText(const RunOutcome& outcome)
{
    if (outcome.samplesPerSecond > 0)
        return formatRate(outcome.samplesPerSecond, StartPage::tr("samples"));
    return outcome.state == "finished" ? QString() : outcome.state;
}

} // namespace

PlaceList::PlaceList(const QString& objectName, const QString& title, QWidget* parent)
    : QWidget(parent), m_rows(new QVBoxLayout)
{
    setObjectName(objectName);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* heading = new QLabel(title, this);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    heading->setContentsMargins(4, 0, 0, 2);
    m_rows->setSpacing(0);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 18, 0, 0);
    column->setSpacing(0);
    column->addWidget(heading);
    column->addLayout(m_rows);
    column->addStretch(1);
    hide();
}

void PlaceList::setPlaces(const std::vector<Place>& places)
{
    while (QLayoutItem* item = m_rows->takeAt(0)) {
        // Deferred: the list may change while one of its buttons handles a click.
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    for (const Place& place : places)
        m_rows->addWidget(new PlaceButton(place, this));
    setVisible(!places.empty());
}

StartCard::StartCard(const QString& iconStem, const QString& title, const QString& text, const QString& action,
                     QWidget* parent)
    : QFrame(parent), m_button(new QPushButton(action, this))
{
    auto* heading = new QLabel(title, this);
    QFont font = heading->font();
    font.setPointSizeF(font.pointSizeF() * 1.25);
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    auto* words = new QLabel(text, this);
    words->setWordWrap(true);
    words->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    words->setForegroundRole(QPalette::PlaceholderText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 20, 20, 20);
    layout->setSpacing(8);
    layout->addWidget(new Picture(iconStem, this));
    layout->addWidget(heading);
    layout->addWidget(words, 1);
    layout->addWidget(m_button, 0, Qt::AlignLeft);
    m_button->setMinimumHeight(30);
    m_button->setAccessibleDescription(text);
    setMinimumWidth(200);
    setMaximumWidth(300);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setMinimumHeight(208);
}

void StartCard::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(shades(palette()).panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

StartPage::StartPage(Notices* notices, ConfigurationModel* configuration, TrainingService* training,
                     const JobGuard* jobs, const RunStore* runs, TraceDocument* document, JobDocument* job,
                     const MachineState* machine, QWidget* parent)
    : QWidget(parent), m_notices(notices), m_configuration(configuration), m_training(training), m_jobs(jobs),
      m_runs(runs), m_document(document), m_job(job), m_machine(machine), m_missing(new QLabel(this))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    auto* tryIt =
        new StartCard("start", tr("Try it"),
                      tr("Train a small image classifier on real JPEG files with naive settings. Watch it run, and see "
                         "what the advisor finds."),
                      tr("Start training"), this);
    tryIt->button()->setObjectName("tryIt");
    tryIt->button()->setProperty("primary", true);
    auto* open =
        new StartCard("open", tr("Open a trace"),
                      tr("Open a PyTorch profiler trace (.json, .json.gz), an Nsight Systems export (.sqlite) or a "
                         "Stepscope trace. You can also drop the file anywhere on this window, or the folder with "
                         "the traces of a job."),
                      tr("Choose a file…"), this);
    open->button()->setObjectName("openTrace");
    auto* record = new StartCard("record", tr("Record a program"),
                                 tr("Run your own command (a Python training script or any program that uses CUDA or "
                                    "NVTX) and see what it does. The program needs no changes."),
                                 tr("Enter a command…"), this);
    record->button()->setObjectName("recordCard");
    connect(record->button(), &QPushButton::clicked, this, &StartPage::recordProgram);
    connect(tryIt->button(), &QPushButton::clicked, this, &StartPage::tryIt);
    connect(open->button(), &QPushButton::clicked, this, &StartPage::chooseTrace);

    m_tryIt = tryIt->button();
    m_recentRuns = new PlaceList("recentRuns", tr("Recent runs"), this);
    m_traces = new PlaceList("recentTraceList", tr("Recent traces"), this);
    m_samples = new PlaceList("sampleTraces", tr("Samples"), this);
    auto* doors = new QGridLayout;
    doors->setHorizontalSpacing(16);
    for (int column = 0; column < 3; ++column)
        doors->setColumnStretch(column, 1);
    int place = 0;
    for (QWidget* door : std::initializer_list<QWidget*>{tryIt, open, record})
        doors->addWidget(door, 0, place++);
    place = 0;
    for (QWidget* list : std::initializer_list<QWidget*>{m_samples, m_traces, m_recentRuns})
        doors->addWidget(list, 1, place++);

    auto* column = new QVBoxLayout;
    column->addStretch(2);
    column->addWidget(makeHeading(tr("Where does the time of a training step go?"), 1.6, this));
    auto* subtitle = new QLabel(tr("Train, watch every step, see what to change, and measure whether it pays."), this);
    subtitle->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(subtitle);
    column->addSpacing(16);
    column->addLayout(doors);
    column->addSpacing(16);
    m_missing->setObjectName("machineProblems");
    m_missing->setTextFormat(Qt::PlainText);
    m_missing->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_missing->setWordWrap(true);
    m_missing->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(m_missing);
    column->addStretch(3);
    auto* layout = new QHBoxLayout(this);
    layout->addStretch(1);
    layout->addLayout(column);
    layout->addStretch(1);
    connect(m_runs, &RunStore::changed, this, &StartPage::showRuns);
    connect(m_jobs, &JobGuard::changed, this, &StartPage::showBusy);
    connect(m_document, &TraceDocument::traceOpened, this, &StartPage::showTraces);
    connect(m_machine, &MachineState::changed, this, &StartPage::showMachine);
    showMachine();
    showRuns();
    showTraces();
    showSamples();
    showBusy();
}

void StartPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    showTraces(); // files may be added or removed
}

void StartPage::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && !m_document->title().isEmpty())
        leave();
    else
        QWidget::keyPressEvent(event);
}

/// Returns to the trace on screen, by the action of the window that shows this page.
void StartPage::leave()
{
    if (auto* action = window()->findChild<QAction*>("goTo:timeline"))
        action->trigger();
}

void StartPage::showBusy()
{
    const QString busy = m_jobs->whyBusy();
    m_tryIt->setEnabled(busy.isEmpty());
    m_tryIt->setToolTip(busy.isEmpty() ? QString() : tr("%1 Running both would skew the results.").arg(busy));
    m_tryIt->setText(busy.isEmpty() ? tr("Start training") : tr("Another task is running"));
}

void StartPage::showMachine()
{
    QStringList lines;
    for (const MachineState::Problem& problem : m_machine->problems())
        lines += tr("%1: %2").arg(problem.text, problem.fix);
    m_missing->setText(lines.join('\n'));
    m_missing->setVisible(!lines.isEmpty());
}

void StartPage::tryIt()
{
    if (m_jobs->isBusy()) // the current configuration runs, so keep it
        return;
    const Preset preset = firstRun();
    m_configuration->set(preset.configuration, preset.title);
    m_training->start();
}

void StartPage::chooseTrace()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a trace"), {}, openTraceFilter());
    if (!file.isEmpty())
        m_document->openTrace(file.toStdString());
}

void StartPage::recordProgram()
{
    // The action of the window that shows this page.
    if (auto* action = window()->findChild<QAction*>("recordProgram"))
        action->trigger();
}

void StartPage::open(const std::filesystem::path& trace)
{
    // The trace of a running training is already on screen; any other trace may have changed since it was read.
    std::error_code failed;
    if (trace == m_document->path() && m_training->isOpen())
        leave();
    else if (std::filesystem::is_directory(trace, failed))
        m_job->open({trace});
    else
        m_document->openTrace(trace);
}

void StartPage::showRuns()
{
    std::vector<Place> places;
    const auto& runs = m_runs->all();
    for (std::size_t i = 0; i < std::min<std::size_t>(kMostRecent, runs.size()); ++i) {
        const RunRecord& run = runs[i];
        QStringList facts{QString::fromStdString(run.configuration.text("workload"))};
        if (const QString outcome = outcomeText(run.outcome); !outcome.isEmpty())
            facts << outcome;
        places.push_back({when(run.started), facts.join("  ·  "), QString::fromStdString(run.folder.string()),
                          [this, trace = run.trace()] { open(trace); }});
    }
    m_recentRuns->setPlaces(std::move(places));
}

void StartPage::showTraces()
{
    std::vector<Place> places;
    for (const QString& path : recentTraces().mid(0, kMostRecent)) {
        const QFileInfo file(path);
        if (!file.exists()) {
            places.push_back({file.fileName(), tr("missing"), tr("File no longer exists: %1").arg(path), {}});
            continue;
        }
        places.push_back({file.fileName(),
                          QString("%1  ·  %2")
                              .arg(file.isDir() ? tr("job") : formatBytes(static_cast<double>(file.size())),
                                   QLocale().toString(file.lastModified(), "d MMM")),
                          tr("%1\nchanged %2").arg(path, when(file.lastModified())),
                          [this, trace = std::filesystem::path(path.toStdString())] { open(trace); }});
    }
    m_traces->setPlaces(std::move(places));
}

void StartPage::showSamples()
{
    std::vector<Place> places;
    for (const Sample& sample : allSamples())
        places.push_back(
            {sample.title, {}, sample.what, [this, sample] {
                 const auto file = sampleFile(sample);
                 if (file)
                     open(*file);
                 else
                     emit m_notices->noticed(
                         tr("The sample cannot be opened: %1.").arg(QString::fromStdString(file.error().what.text)),
                         QString::fromStdString(file.error().message()), true);
             }});
    m_samples->setPlaces(std::move(places));
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    // Panels may be shown before the page is replaced by a trace: in a low window, the page must not need its height.
    auto* area = new QScrollArea(parent);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setWidget(new StartPage(&bench.notices, &bench.configuration, &bench.training, &bench.jobs, &bench.runs,
                                  &bench.document, &bench.job, &bench.machine, area));
    return area;
}

} // namespace

View start()
{
    return {QCoreApplication::translate("views", "Start"), ViewArea::Start, 0, create};
}

} // namespace app::views
