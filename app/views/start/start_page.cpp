#include "app/views/start/start_page.h"

#include "app/look/icon.h"
#include "app/session/presets.h"
#include "app/session/trace_files.h"
#include "app/views/start/door.h"
#include "app/widgets/number_format.h"

#include <QAction>
#include <QFileDialog>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr std::size_t kMostRecent = 5;

QLabel* makeHeading(const QString& text, double scale, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * scale);
    font.setWeight(QFont::DemiBold);
    label->setFont(font);
    return label;
}

QString runLine(const RunRecord& run)
{
    QString line = QLocale().toString(run.started, "d MMM, HH:mm") + "  ·  " +
                   QString::fromStdString(run.configuration.text("workload"));
    if (run.outcome.samplesPerSecond > 0)
        line += "  ·  " + formatRate(run.outcome.samplesPerSecond, Session::tr("samples"));
    return line;
}

} // namespace

StartPage::StartPage(Session* session, QWidget* parent) : QWidget(parent), m_session(session)
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    auto* tryIt =
        new Door("start", tr("Try it"),
                 tr("Trains a small image classifier on real JPEG files, with settings as naive as a first attempt. "
                    "Watch it run, and see what the advisor finds."),
                 tr("Start the training"), this);
    tryIt->button()->setObjectName("tryIt");
    tryIt->button()->setProperty("primary", true);
    auto* open =
        new Door("open", tr("Open a trace"),
                 tr("What the PyTorch profiler wrote (.json, .json.gz), an export of Nsight Systems (.sqlite), or a "
                    "trace of Stepscope's own. You can also drop the file anywhere on this window."),
                 tr("Choose a file…"), this);
    open->button()->setObjectName("openTrace");
    auto* record = new Door("record", tr("Record a program"),
                            tr("Runs a command of yours, a Python training or any program that uses CUDA or NVTX, and "
                               "shows what it did. It need not be changed."),
                            tr("Enter a command…"), this);
    record->button()->setObjectName("recordDoor");
    connect(record->button(), &QPushButton::clicked, this, &StartPage::recordProgram);
    connect(tryIt->button(), &QPushButton::clicked, this, &StartPage::tryIt);
    connect(open->button(), &QPushButton::clicked, this, &StartPage::chooseTrace);

    auto* doors = new QHBoxLayout;
    doors->setSpacing(16);
    doors->addWidget(tryIt);
    doors->addWidget(open);
    doors->addWidget(record);
    m_recent = new QWidget(this);
    m_recentRuns = new QVBoxLayout(m_recent);
    m_recentRuns->setContentsMargins(0, 18, 0, 0);
    m_recentRuns->setSpacing(0);

    auto* column = new QVBoxLayout;
    column->addStretch(2);
    column->addWidget(makeHeading(tr("Where does the time of a training step go?"), 1.6, this));
    auto* subtitle =
        new QLabel(tr("Train, watch every step, let the advisor say what to change, and measure that it pays."), this);
    subtitle->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(subtitle);
    column->addSpacing(16);
    column->addLayout(doors);
    column->addWidget(m_recent);
    column->addStretch(3);
    auto* layout = new QHBoxLayout(this);
    layout->addStretch(1);
    layout->addLayout(column);
    layout->addStretch(1);
    connect(session, &Session::runsChanged, this, &StartPage::showRuns);
    showRuns();
}

void StartPage::tryIt()
{
    const Preset preset = firstRun();
    m_session->setConfiguration(preset.configuration, preset.title);
    m_session->start();
}

void StartPage::chooseTrace()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a trace"), {}, openTraceFilter());
    if (!file.isEmpty())
        m_session->openTrace(file.toStdString());
}

void StartPage::recordProgram()
{
    // The window's own action: whoever shows this page has it.
    if (auto* action = window()->findChild<QAction*>("recordProgram"))
        action->trigger();
}

void StartPage::showRuns()
{
    while (QLayoutItem* item = m_recentRuns->takeAt(0)) {
        // Later: the list may change while one of its buttons is being clicked.
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    const auto& runs = m_session->runs();
    m_recent->setVisible(!runs.empty());
    if (runs.empty())
        return;
    m_recentRuns->addWidget(makeHeading(tr("Recent runs"), 1.0, m_recent));
    for (std::size_t i = 0; i < std::min(kMostRecent, runs.size()); ++i) {
        auto* button = new QToolButton(m_recent);
        button->setIcon(icon("trace", QPalette::PlaceholderText));
        button->setText(runLine(runs[i]));
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::StrongFocus);
        connect(button, &QToolButton::clicked, this, [this, run = runs[i]] { m_session->openRun(run); });
        m_recentRuns->addWidget(button);
    }
}

} // namespace app
